"""An index of CSR rows answers as one of the dense rows does, and keeps no dense copy of them."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.neighbors import Index, count_within, knn, kth_distances, within

#: With ties (hamming, jaccard, russellrao), columns that are zero on both sides, or neither.
METRICS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation",
           "canberra", "hamming", "jaccard", "russellrao", "minkowski"]  # fmt: skip


def table(n_rows: int, n_cols: int = 30, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Whole numbers, mostly zeros, with rows of nothing else and rows that are the same."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n_rows, n_cols)) * (rng.random((n_rows, n_cols)) < 0.2)
    X[n_rows // 2] = 0
    X[n_rows // 3] = X[-1]
    return X.astype(dtype)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.distance._sparse_rows._TILE_NUMBERS", 300)  # ten rows


def radius_of(metric: str, X: Any) -> float:
    """A distance that some pairs have exactly."""
    return float(np.quantile(kth_distances(X, 20, metric=metric)[0], 0.5, method="lower"))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_answers_of_dense_rows(metric: str, dtype: Any) -> None:
    X, Q = table(95, dtype=dtype), table(33, seed=1)
    A, B = sp.csr_array(X), sp.csr_matrix(Q)
    B.indices, B.indptr = B.indices.astype(np.int64), B.indptr.astype(np.int64)
    radius, weights = radius_of(metric, X), np.arange(95.0)
    index, expected = (Index(rows, metric=metric, method="brute") for rows in (A, X))
    for queries, asked in ((None, None), (B, Q), (Q, Q)):
        for ask in (
            lambda index, queries: index.knn(12, queries),
            lambda index, queries: index.within(radius, queries),
            lambda index, queries: (index.count_within(radius, queries),),
            lambda index, queries: (index.count_within(radius, queries, weights),),
            lambda index, queries: index.kth_distances(12, queries)[:1],
        ):
            for found, wanted in zip(ask(index, queries), ask(expected, asked), strict=True):
                np.testing.assert_array_equal(found, wanted)
        _, mean = index.kth_distances(12, queries)
        np.testing.assert_allclose(mean, expected.kth_distances(12, asked)[1], rtol=1e-14)
    np.testing.assert_array_equal(index.spanning_tree().tails, expected.spanning_tree().tails)
    cores = expected.kth_distances(4)[0]
    for found, wanted in zip(
        index.nearest_reachable(cores, B, np.zeros(33)),
        expected.nearest_reachable(cores, Q, np.zeros(33)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)


def test_functions_trees_and_few_rows() -> None:
    X = table(300, 4)
    A = sp.csr_array(X)
    assert Index(A).by_tree
    for method in ("auto", "kdtree", "brute"):
        found, expected = (knn(rows, 5, method=method) for rows in (A, X))
        np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(knn(X, 5, A[:7]).dists, knn(X, 5, X[:7]).dists)
    np.testing.assert_array_equal(knn(A, 300).ids, knn(X, 300).ids)  # more than a tile has

    def farthest(x: Any, y: Any) -> float:
        return float(np.abs(x - y).max())

    found, expected = (within(rows[:40], 1.0, rows[:9], metric=farthest) for rows in (A, X))
    np.testing.assert_array_equal(found.ids, expected.ids)


def test_an_index_has_its_rows_for_itself_and_pickles() -> None:
    A = sp.csr_array(table(40))
    expected = knn(A, 3, method="brute")
    index = Index(A, method="brute")
    A.data[:] = 7
    for one in (index, pickle.loads(pickle.dumps(index))):
        np.testing.assert_array_equal(one.knn(3).ids, expected.ids)


def test_memory_is_that_of_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.distance._sparse_rows._TILE_NUMBERS", 1 << 18)
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 4_000_000)
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 50_000), density=1e-4, format="csr", rng=rng)
    tracemalloc.start()
    found = knn(X, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 50_000 * 8 / 5
    assert (found.ids[:, 0] == np.arange(200)).mean() > 0.9
    assert count_within(X, np.inf)[0] == 200
    with pytest.raises(MemoryError, match="sparse rows made dense"):
        Index(X).spanning_tree()
    with pytest.raises(MemoryError, match="sparse rows made dense"):
        Index(X, method="kdtree")
