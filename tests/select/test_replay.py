"""The clustering of structureless rows in place of some."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.select._replay import (
    NULLS,
    _neighbours,
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
