"""The spanning tree: Boruvka, Prim and Kruskal agree edge by edge, ties included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

import twins
from coterie import spanning_tree
from coterie.distance import pairwise
from coterie.neighbors import SpanningTree, kth_distances

METHODS = ["kdtree", "brute"]


def rows(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def edges(tree: SpanningTree) -> list[tuple[float, int, int]]:
    return list(zip(tree.lengths.tolist(), tree.heads.tolist(), tree.tails.tolist(), strict=True))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 90),
    d=st.integers(1, 4),
    single=st.booleans(),
    k=st.integers(0, 6),
)
def test_the_tree_is_kruskals(
    metric: str, method: str, seed: int, n: int, d: int, single: bool, k: int
) -> None:
    X = np.random.default_rng(seed).integers(0, 6, size=(n, d))
    X = X.astype(np.float32 if single else np.float64)
    cores = kth_distances(X, min(k, n), metric=metric)[0] if k else None
    tree = spanning_tree(X, cores, metric=metric, method=method)
    assert edges(tree) == twins.spanning_tree(twins.lengths(X, X, metric), cores)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
def test_scattered_rows(d: int, method: str) -> None:
    X = rows(400, d)
    for cores in (None, kth_distances(X, 5)[0], np.random.default_rng(1).random(400)):
        tree = spanning_tree(X, cores, method=method)
        assert edges(tree) == twins.spanning_tree(twins.lengths(X, X, "euclidean"), cores)


@pytest.mark.parametrize("with_cores", [False, True])
def test_larger_trees_agree_with_each_other_and_with_scipy(with_cores: bool) -> None:
    X = np.vstack([rows(1200, 3), rows(800, 3, seed=1) + 50])
    cores = kth_distances(X, 6)[0] if with_cores else None
    by_tree, by_tiles = (spanning_tree(X, cores, method=method) for method in METHODS)
    assert edges(by_tree) == edges(by_tiles)
    if not with_cores:
        total = minimum_spanning_tree(pairwise(X)).sum()
        np.testing.assert_allclose(by_tree.lengths.sum(), total)
    assert (np.diff(by_tree.lengths) >= 0).all()
    assert (by_tree.heads < by_tree.tails).all()


@pytest.mark.parametrize("method", METHODS)
def test_same_edges_for_any_number_of_threads(method: str) -> None:
    X = np.round(rows(12_000 if method == "kdtree" else 2000, 2), 2)
    alone = edges(spanning_tree(X, method=method, n_threads=1))
    for n_threads in (2, 3, 4):
        assert edges(spanning_tree(X, method=method, n_threads=n_threads)) == alone


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_build_finds_the_same(isa_kernels: Any, dtype: Any) -> None:
    for d in (1, 2, 5, 18):
        X = rows(300, d, dtype)
        expected = twins.spanning_tree(twins.lengths(X, X, "euclidean"))
        for by_tree in (True, False):
            heads, tails = np.empty(299, dtype=np.int32), np.empty(299, dtype=np.int32)
            tree = SpanningTree(heads, tails, np.empty(299))
            index = isa_kernels.Index(X, ("euclidean", 2.0, None, None), by_tree, 2)
            index.spanning_tree(None, heads, tails, tree.lengths, 2)
            assert edges(tree) == expected


@pytest.mark.parametrize("metric", ["cosine", "haversine", "minkowski", "hamming", "jaccard"])
def test_other_metrics(metric: str) -> None:
    X = rows(150, 2) if metric == "haversine" else np.round(rows(150, 5))
    params = {"p": 3} if metric == "minkowski" else {}
    expected = twins.spanning_tree(pairwise(X, metric=metric, **params))
    assert edges(spanning_tree(X, metric=metric, **params)) == expected


def test_a_function_gives_the_tree_of_its_metric() -> None:
    X = np.random.default_rng(0).integers(0, 4, size=(40, 2)).astype(float)
    cores = kth_distances(X, 3, metric="manhattan")[0]
    for given_cores in (None, cores):
        by_function = spanning_tree(X, given_cores, metric=lambda x, y: float(abs(x - y).sum()))
        assert edges(by_function) == edges(spanning_tree(X, given_cores, metric="manhattan"))
    assert edges(spanning_tree(X[:1], metric=lambda x, y: 0.0)) == []


@pytest.mark.parametrize("method", METHODS)
def test_few_or_equal_rows(method: str) -> None:
    assert edges(spanning_tree(np.zeros((1, 2)), method=method)) == []
    assert edges(spanning_tree(np.array([[0.0], [3.0]]), method=method)) == [(3.0, 0, 1)]
    same = spanning_tree(np.ones((500, 3)), method=method)
    assert edges(same) == [(0.0, 0, j) for j in range(1, 500)]


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "chebyshev"])
@pytest.mark.parametrize("power", [-400, -150, 150, 400])
def test_scale_changes_only_the_lengths(metric: str, power: int) -> None:
    X = np.random.default_rng(3).normal(size=(3000, 2))
    if metric != "chebyshev":
        power //= 2  # squares must neither vanish nor overflow
    expected = spanning_tree(X, metric=metric, method="kdtree")
    found = spanning_tree(np.ldexp(X, power), metric=metric, method="kdtree")
    np.testing.assert_array_equal(found.heads, expected.heads)
    np.testing.assert_array_equal(found.tails, expected.tails)
    scale = 2 * power if metric == "sqeuclidean" else power
    np.testing.assert_array_equal(found.lengths, np.ldexp(expected.lengths, scale))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (
            [[1.0, np.nan], [2, 3]],
            "spanning_tree: Input X contains NaN.*row 0.*; leave such",
        ),
        ([[1.0, np.inf], [2, 3]], "spanning_tree: Input X contains infinity.*; leave such rows"),
        ([["a", "b"], ["c", "d"]], "spanning_tree: could not convert string.*; leave text columns"),
        (np.empty((0, 2)), "spanning_tree: Found array with 0 sample.*; pass more rows"),
    ],
)
def test_rows_it_cannot_take_are_told_with_what_to_do(X: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        spanning_tree(X)


def test_core_distances_must_fit() -> None:
    with pytest.raises(ValueError, match="one distance of zero or more per row"):
        spanning_tree(rows(5, 2), [1.0, 2.0])
    with pytest.raises(ValueError, match="zero or more"):
        spanning_tree(rows(2, 2), [1.0, -2.0])
