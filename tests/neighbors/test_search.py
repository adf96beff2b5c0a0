"""Neighbours: tree and tiles against brute force, ties included, for all metrics and builds.

Covers coterie.neighbors.brute and coterie.neighbors.kdtree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KDTree

import coterie._checks
import twins
from coterie.distance import pairwise
from coterie.neighbors import count_within, knn, kth_distances, within

METHODS = ["kdtree", "brute"]
SUMS = ["euclidean", "manhattan", "chebyshev"]


def rows(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def grid(seed: int, n: int, d: int, dtype: Any = np.float64) -> Any:
    """Rows of small integers: duplicates and many equal distances."""
    return np.random.default_rng(seed).integers(0, 5, size=(n, d)).astype(dtype)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", SUMS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 150),
    d=st.integers(1, 5),
    single=st.booleans(),
)
def test_neighbours_are_those_of_brute_force(
    metric: str, method: str, seed: int, n: int, d: int, single: bool
) -> None:
    X = grid(seed, n, d, np.float32 if single else np.float64)
    queries = grid(seed + 1, 10, d, X.dtype)
    k = 1 + seed % n
    radius = float(np.random.default_rng(seed).choice([0.0, 1.0, 2**0.5, 2.0, 3.0]))
    at_most = radius * radius if metric == "euclidean" else radius
    for asked, others in ((None, X), (queries, queries)):
        reduced = twins.reduced_lengths(others, X, metric)
        exact = twins.lengths(others, X, metric)
        found = knn(X, k, asked, metric=metric, method=method)
        np.testing.assert_array_equal(found.ids, twins.knn(reduced, k))
        np.testing.assert_array_equal(found.dists, np.take_along_axis(exact, found.ids, axis=1))
        near = reduced <= at_most
        np.testing.assert_array_equal(
            count_within(X, radius, asked, metric=metric, method=method), near.sum(axis=1)
        )
        lists = within(X, radius, asked, metric=metric, method=method)
        np.testing.assert_array_equal(np.diff(lists.indptr), near.sum(axis=1))
        np.testing.assert_array_equal(lists.ids, near.nonzero()[1])
        np.testing.assert_array_equal(lists.dists, exact[near])


@pytest.mark.parametrize("d", [1, 2, 3, 8, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_build_finds_the_same(isa_kernels: Any, d: int, dtype: Any) -> None:
    X = rows(2000, d, dtype)
    reduced = twins.reduced_lengths(X, X, "euclidean")
    ids = twins.knn(reduced, 6)
    for by_tree in (True, False):
        lengths, found = np.empty((2000, 6)), np.empty((2000, 6), dtype=np.int64)
        index = isa_kernels.Index(X, ("euclidean", 2.0, None, None), by_tree, 2)
        index.knn(None, lengths, found, 2)
        np.testing.assert_array_equal(found, ids)
        np.testing.assert_array_equal(lengths, np.sqrt(np.take_along_axis(reduced, ids, axis=1)))


@pytest.mark.parametrize(
    ("metric", "params"),
    [("minkowski", {"p": 3}), ("cosine", {}), ("correlation", {}), ("haversine", {}),
     ("sqeuclidean", {})],
)  # fmt: skip
def test_the_tree_serves_metrics_that_are_distances_elsewhere(
    metric: str, params: dict[str, Any]
) -> None:
    X = rows(900, 2 if metric == "haversine" else 4)
    by_tree = knn(X, 9, metric=metric, method="kdtree", **params)
    by_tiles = knn(X, 9, metric=metric, method="brute", **params)
    np.testing.assert_array_equal(by_tree.ids, by_tiles.ids)
    np.testing.assert_array_equal(by_tree.dists, by_tiles.dists)
    table = pairwise(X, metric=metric, **params)
    np.testing.assert_array_equal(by_tree.dists, np.sort(table, axis=1)[:, :9])


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "gower"])
def test_tiles_serve_every_metric(metric: str) -> None:
    X = grid(0, 200, 6)
    table = pairwise(X, metric=metric)
    found = knn(X, 5, metric=metric)
    np.testing.assert_array_equal(found.ids, twins.knn(table, 5))
    np.testing.assert_array_equal(count_within(X, 0.5, metric=metric), (table <= 0.5).sum(axis=1))
    with pytest.raises(ValueError, match="does not serve"):
        knn(X, 5, metric=metric, method="kdtree")


def test_a_function_finds_what_its_metric_finds() -> None:
    X = grid(0, 40, 3)

    def manhattan(x: Any, y: Any) -> float:
        return float(np.abs(x - y).sum())

    for asked in (None, grid(1, 6, 3)):
        named, by_function = ({"queries": asked, "metric": m} for m in ("manhattan", manhattan))
        np.testing.assert_array_equal(knn(X, 4, **by_function).ids, knn(X, 4, **named).ids)
        for ours, theirs in zip(within(X, 2, **by_function), within(X, 2, **named), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        for ours, theirs in zip(
            kth_distances(X, 4, **by_function), kth_distances(X, 4, **named), strict=True
        ):
            np.testing.assert_allclose(ours, theirs)
        weights = np.arange(40.0)
        np.testing.assert_allclose(
            count_within(X, 2, weights=weights, **by_function),
            count_within(X, 2, weights=weights, **named),
        )


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_added_up(method: str) -> None:
    X = rows(700, 3)
    weights = np.random.default_rng(1).normal(size=700)  # negative ones too
    near = twins.reduced_lengths(X, X, "euclidean") <= 0.7 * 0.7
    np.testing.assert_allclose(
        count_within(X, 0.7, weights=weights, method=method), near @ weights, atol=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_kth_distances_are_columns_of_the_neighbours(method: str) -> None:
    X = rows(800, 4)
    found = knn(X, 6).dists
    kth, mean = kth_distances(X, 6, method=method)
    np.testing.assert_array_equal(kth, found[:, -1])
    np.testing.assert_allclose(mean, found[:, 1:].mean(axis=1))
    kth, mean = kth_distances(X, 6, rows(50, 4, seed=1), method=method)
    np.testing.assert_allclose(mean, knn(X, 6, rows(50, 4, seed=1)).dists.mean(axis=1))
    np.testing.assert_array_equal(kth_distances(X, 1)[1], 0.0)


def test_agrees_with_scikit_learn_on_larger_data() -> None:
    X = rows(20_000, 3)
    dists, ids = KDTree(X).query(X[:2000], k=8)
    found = knn(X, 8, X[:2000])
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_allclose(found.dists, dists, rtol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_for_any_number_of_threads(method: str) -> None:
    X = rows(4000, 5)
    weights = np.random.default_rng(1).random(4000)
    alone = knn(X, 7, method=method, n_threads=1)
    weight = count_within(X, 1.0, weights=weights, method=method, n_threads=1)
    for n_threads in (2, 3, 4):
        found = knn(X, 7, method=method, n_threads=n_threads)
        np.testing.assert_array_equal(found.ids, alone.ids)
        np.testing.assert_array_equal(found.dists, alone.dists)
        again = count_within(X, 1.0, weights=weights, method=method, n_threads=n_threads)
        np.testing.assert_array_equal(again, weight)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((500, 3)),
        np.repeat(np.arange(3.0), 200)[:, np.newaxis],
        np.hstack([np.zeros((300, 2)), rows(300, 1)]),
        rows(300, 2) * 1e150,
        rows(300, 2) * 1e-150,
        rows(300, 2) + 1e9,
        np.vstack([rows(299, 2), [[1e30, 1e30]]]),
        2.0 ** np.arange(-500, 500)[:, np.newaxis],
    ],
)
def test_awkward_rows(X: Any) -> None:
    by_tree, by_tiles = (knn(X, 4, method=method) for method in METHODS)
    np.testing.assert_array_equal(by_tree.ids, by_tiles.ids)
    np.testing.assert_array_equal(by_tree.dists, by_tiles.dists)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X: knn(X, 11), "n_neighbors=11 and X has 10 rows"),
        (lambda X: knn(X, 0), "from 1 to"),
        (lambda X: knn(X, 2, method="ball"), "'auto', 'kdtree' or 'brute'"),
        (lambda X: within(X, -1), "zero or more"),
        (lambda X: count_within(X, 1, weights=[1, 2]), "one weight per row"),
        (lambda X: kth_distances(X, 2, X[:, :1]), "same columns"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call(rows(10, 2))


def test_lists_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coterie._checks, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="lower radius"):
        within(rows(100, 2), 10)
    with pytest.raises(MemoryError, match="kth_distances"):
        knn(rows(100, 2), 10)


@pytest.mark.parametrize("method", ["kdtree", "brute"])
@pytest.mark.parametrize(
    ("metric", "params"),
    [("minkowski", {"p": 3}), ("minkowski", {"p": 900.0}), ("haversine", {}), ("manhattan", {})],
    ids=str,
)
def test_a_pair_is_within_its_own_distance(
    metric: str, params: dict[str, Any], method: str
) -> None:
    X = np.random.default_rng(0).integers(-7, 8, size=(60, 2)) / 8.0
    table = pairwise(X, metric=metric, **params)
    for radius in np.unique(table)[::17]:
        near = table <= radius
        counts = count_within(X, radius, metric=metric, method=method, **params)
        np.testing.assert_array_equal(counts, near.sum(axis=1))
        ids = within(X, radius, metric=metric, method=method, **params).ids
        np.testing.assert_array_equal(ids, np.nonzero(near)[1])
    pair = np.array([[6.0, 3.0], [0.0, 0.0]])
    radius = pairwise(pair, metric=metric, **params)[0, 1]
    counts = count_within(pair, radius, metric=metric, method=method, **params)
    assert counts.tolist() == [2, 2]
