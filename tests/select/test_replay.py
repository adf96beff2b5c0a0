"""The clustering of structureless rows in place of some."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.select._replay import (
    _PASSES,
    NULLS,
    _neighbours,
    _seeds,
    cut,
    deepest_gap,
    gaussian_like,
    numbers_tried,
    replay,
    uniform_in_box,
)


def neighbours_by_loops(centers: Any) -> list[tuple[int, int]]:
    found = []
    for i, j in combinations(range(len(centers)), 2):
        middle = (centers[i] + centers[j]) / 2
        radius = np.linalg.norm(centers[i] - middle)
        others = [c for c in range(len(centers)) if c not in (i, j)]
        if all(np.linalg.norm(centers[c] - middle) >= radius for c in others):
            found.append((i, j))
    return found


@given(st.integers(2, 14), st.integers(1, 4), st.integers(0, 99))
def test_neighbours(n_centers: int, n_cols: int, seed: int) -> None:
    centers = np.random.default_rng(seed).normal(size=(n_centers, n_cols))
    assert _neighbours(centers) == neighbours_by_loops(centers)


def lloyd_by_loops(rows: Any, centers: Any) -> Any:
    for _ in range(_PASSES):
        nearest = [int(np.argmin([np.sum((x - c) ** 2) for c in centers])) for x in rows]
        labels = np.array(nearest)
        centers = np.array(
            [rows[labels == i].mean(axis=0) if i in nearest else c for i, c in enumerate(centers)]
        )
    return centers, labels


@given(st.integers(20, 60), st.integers(1, 4), st.integers(0, 99))
def test_cuts_are_those_of_k_means(n_rows: int, n_cols: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(n_rows, n_cols))
    seeds = _seeds(rows, 5, np.random.RandomState(seed))
    numbers = [2, 5]
    found = cut(rows, numbers, np.random.RandomState(seed))
    for n_clusters, (centers, labels) in zip(numbers, found, strict=True):
        expected = lloyd_by_loops(rows, seeds[:n_clusters])
        np.testing.assert_allclose(centers, expected[0], atol=1e-9)
        np.testing.assert_array_equal(labels, expected[1])


def test_seeds_are_drawn_far_from_each_other() -> None:
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 50.0]], 20, axis=0)
    for seed in range(20):
        assert len(np.unique(_seeds(rows, 3, np.random.RandomState(seed)), axis=0)) == 3
    firsts = [_seeds(rows, 2, np.random.RandomState(seed)) for seed in range(60)]
    apart = [abs(a[1] - b[1]) > 40 for a, b in firsts]
    assert sum(apart) > 50


def test_nulls_are_like_the_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=(4000, 2)) * [5.0, 1.0]
    rows -= rows.mean(axis=0)
    box = uniform_in_box(rows, np.random.RandomState(0))
    assert (box.min(axis=0) >= rows.min(axis=0)).all()
    assert (box.max(axis=0) <= rows.max(axis=0)).all()
    heap = gaussian_like(rows, np.random.RandomState(0))
    np.testing.assert_allclose(heap.std(axis=0), rows.std(axis=0), rtol=0.05)
    np.testing.assert_allclose(heap.mean(axis=0), 0, atol=0.2)


def test_two_heaps_are_deeper_than_one() -> None:
    rng = np.random.default_rng(0)
    one = rng.normal(size=(300, 2))
    two = one + 8 * rng.integers(0, 2, (300, 1))
    gaps = [deepest_gap(rows, [2], np.random.RandomState(0))[0] for rows in (one, two)]
    assert gaps[1] > gaps[0] + 10


def test_replay_of_two_heaps() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2)) + 8 * rng.integers(0, 2, (80, 1))
    found = replay(rows - rows.mean(axis=0), np.random.RandomState(0))
    assert found.p_value == max(found.p_values.values()) == pytest.approx(0.01)
    assert found.n_replays == 99
    assert set(found.p_values) == set(NULLS)


def test_replays_end_early_where_there_is_nothing() -> None:
    rows = np.random.default_rng(1).normal(size=(80, 2))
    found = replay(rows - rows.mean(axis=0), np.random.RandomState(0))
    assert found.n_replays < 99
    assert found.p_value > 0.05


def test_numbers_of_clusters() -> None:
    rng = np.random.default_rng(0)
    assert numbers_tried(rng.normal(size=(1000, 2))) == [2, 3, 5, 8, 13, 21]
    assert numbers_tried(rng.normal(size=(100, 2))) == [2, 3, 5]
    assert numbers_tried(rng.normal(size=(5, 2))) == [2]
    assert numbers_tried(np.repeat(np.eye(3), 50, axis=0)) == [2, 3]
    assert numbers_tried(np.ones((50, 2))) == []
