"""One step of k-means in many nodes at once, against nodes taken one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from coterie.centroid._passes import choose_space
from coterie.data import ArraySource
from coterie.quantize._tree_level import (
    Grouped,
    Level,
    LevelCenters,
    count_level,
    no_sums,
    sq_dist_step,
)


@given(st.lists(st.integers(0, 4), max_size=60))
def test_rows_are_grouped_in_order(places: list[int]) -> None:
    grouped = Grouped.by(np.array(places, dtype=np.int32), 4)
    for node in range(4):
        ids = grouped.row_ids[grouped.row_starts[node] : grouped.row_starts[node + 1]]
        assert ids.tolist() == [i for i, place in enumerate(places) if place == node]
    np.testing.assert_array_equal(np.array(places, dtype=int)[grouped.row_ids], grouped.nodes)


def level_of(seed: int, n: int, d: int, dtype: Any, weighted: bool) -> Any:
    """Rows in some of five nodes, one without rows and one that has settled, with centres."""
    rng = np.random.default_rng(seed)
    X = np.round(3 * rng.normal(size=(n, d)), 1).astype(dtype)
    places = rng.choice([0, 1, 3, 4, 5], size=n).astype(np.int32)
    sizes = rng.integers(1, 7, size=5)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    centers = np.round(3 * rng.normal(size=(starts[-1], d)), 1)
    active = np.array([True, True, True, False, True])
    weights = rng.integers(0, 5, size=n) / 4 if weighted else None
    return X, weights, places, LevelCenters(centers, starts, active)


def naive(X: Any, places: Any, centers: LevelCenters, labels: Any) -> Any:
    """The nearest centre of its node for every row of an active one."""
    labels = labels.copy()
    for node in np.flatnonzero(centers.active):
        here = places == node
        if here.any():
            own = slice(centers.starts[node], centers.starts[node + 1])
            labels[here] = centers.starts[node] + twins.nearest(X[here], centers.values[own])
    return labels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 200),
    d=st.sampled_from([1, 2, 3, 5, 8, 17]),
    weighted=st.booleans(),
    n_threads=st.sampled_from([1, 3]),
)
def test_a_step_is_that_of_every_node(
    isa_kernels: Any, dtype: Any, seed: int, n: int, d: int, weighted: bool, n_threads: int
) -> None:
    X, weights, places, centers = level_of(seed, n, d, dtype, weighted)
    if weighted and not weights.any():
        weights[0] = 1.0
    source = ArraySource(X, weights)
    _, space = choose_space(source, centers.values)
    grouped = Grouped.by(places, 5)
    level = Level(grouped.row_ids, grouped.row_starts, centers.starts, centers.active)
    unit = None if weights is None else weights / space.weight_unit
    labels, sums = np.full(n, -1, dtype=np.int32), no_sums(centers, space)
    moving = centers.values
    for _ in range(2):  # once from nothing, once from where rows are
        before = labels.copy()
        n_changed = isa_kernels.assign_level(X, unit, level, moving, space, labels, sums, n_threads)
        moved = LevelCenters(moving, centers.starts, centers.active)
        np.testing.assert_array_equal(labels, naive(X, places, moved, before))
        assert n_changed == np.count_nonzero(labels != before)
        means = space.means(sums.sums, sums.weight_sums)
        heavy = np.ones(n) if weights is None else weights
        for center in range(len(moving)):
            mine = (labels == center) & (heavy > 0)
            if mine.any():
                exact = twins.mean(X[mine], heavy[mine])
                np.testing.assert_allclose(means[center], exact, rtol=1e-9, atol=1e-9)
            else:
                assert not sums.weight_sums[:, center].any()
        moving = moving + 0.3


def test_one_large_node_and_many_small_ones_on_threads(isa_kernels: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 40)).astype(np.float32)
    places = np.where(np.arange(60_000) < 50_000, 0, np.arange(60_000) % 300).astype(np.int32)
    starts = np.arange(301, dtype=np.int64) * 4
    centers = LevelCenters(rng.normal(size=(1200, 40)), starts, np.ones(300, dtype=bool))
    _, space = choose_space(ArraySource(X))
    grouped = Grouped.by(places, 300)
    level = Level(grouped.row_ids, grouped.row_starts, centers.starts, centers.active)
    found = []
    for n_threads in (1, 2, 4):
        labels, sums = np.full(60_000, -1, dtype=np.int32), no_sums(centers, space)
        isa_kernels.assign_level(X, None, level, centers.values, space, labels, sums, n_threads)
        found.append((labels.tobytes(), sums.sums.tobytes(), sums.weight_sums.tobytes()))
    assert found[0] == found[1] == found[2]
    assert sums.weight_sums.sum() == 60_000


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_a_census_counts_and_measures(scale: float) -> None:
    X, _, places, centers = level_of(3, 150, 4, np.float64, False)
    X[0] = 40.0  # so that most rows are close, beside the frame
    X, values = X * scale, centers.values * scale
    X[0] /= scale
    centers = LevelCenters(values, centers.starts, np.ones(5, dtype=bool))
    source = ArraySource(X)
    (block,) = source
    _, space = choose_space(source, values)
    grouped, step = Grouped.by(places, 5), sq_dist_step(150, 4)
    labels = naive(X, places, centers, np.full(150, -1))
    census = count_level(block, grouped, centers, space, step, labels.astype(np.int32))
    dists = census.sq_dists(step) / space.scale**2
    for center in range(len(values)):
        mine = (labels == center) & (places < 5)
        assert census.n_rows[center] == mine.sum()
        exact = np.square(X[mine] - values[center]).sum()
        assert dists[center] == pytest.approx(exact, rel=1e-5, abs=1e-18)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"row_ids": np.array([0, 1, 9])}, "row_ids must lie"),
        ({"row_starts": np.array([0, 9])}, "row_starts must rise"),
        ({"center_starts": np.array([0, 1])}, "center_starts must end"),
        ({"center_starts": np.array([2, 2])}, "must have a centre"),
        ({"active": np.ones(2, dtype=bool)}, "row_starts must have"),
        ({"labels": np.array([0, 5, -1], np.int32)}, "labels must be of the centers"),
    ],
)
def test_the_binding_refuses_what_does_not_fit(change: dict[str, Any], words: str) -> None:
    from coterie._kernels import kernels

    X = np.arange(6.0).reshape(3, 2)
    _, space = choose_space(ArraySource(X))
    parts: dict[str, Any] = {
        "row_ids": np.array([0, 1, 2]),
        "row_starts": np.array([0, 3]),
        "center_starts": np.array([0, 2]),
        "active": np.ones(1, dtype=bool),
    }
    labels = change.pop("labels", np.full(3, -1, dtype=np.int32))
    centers = LevelCenters(X[:2].copy(), np.array([0, 2]), np.ones(1, dtype=bool))
    with pytest.raises(ValueError, match=words):
        kernels.assign_level(
            X, None, Level(**{**parts, **change}), centers.values, space, labels,
            no_sums(centers, space), 1,
        )  # fmt: skip
