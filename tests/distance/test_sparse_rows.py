"""CSR rows under every metric: the bits of the dense rows, without a dense copy of all of them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import coterie
from coterie.distance import METRICS, as_metric, condensed, pairwise, rows_to, tiles
from coterie.distance._sparse_rows import SparseRows

#: All but Gower's, which reads tables of mixed columns, and haversine, which has two columns.
SPARSE = [name for name in METRICS if name not in ("gower", "haversine")]


def table(n_rows: int, n_cols: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Mostly zeros, with rows of nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_cols)) * (rng.random((n_rows, n_cols)) < 0.3)
    X[[0, n_rows // 2]] = 0
    return X.astype(dtype)


def stored(X: Any, index: Any = np.int32, kind: Any = sp.csr_array) -> Any:
    found = kind(X)
    found.indices, found.indptr = found.indices.astype(index), found.indptr.astype(index)
    return found


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.distance._sparse_rows._TILE_NUMBERS", 60)


@pytest.mark.parametrize("metric", SPARSE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_bits_of_dense_rows(metric: str, dtype: Any, index: Any) -> None:
    X, Y = table(40, 7, dtype), table(23, 7, seed=1)
    A, B = stored(X, index), stored(Y, index, sp.csr_matrix)
    expected = pairwise(X, Y, metric)
    params = {}
    if metric in ("seuclidean", "mahalanobis"):
        params = dict(as_metric(metric, X).learned)
    for left, right in ((A, B), (A, Y), (X, B)):
        np.testing.assert_array_equal(pairwise(left, right, metric, **params), expected)
    np.testing.assert_array_equal(pairwise(A, metric=metric), pairwise(X, metric=metric))
    np.testing.assert_array_equal(condensed(A, metric), condensed(X, metric))
    np.testing.assert_array_equal(rows_to(A, B[3:4], metric), rows_to(X, Y[3], metric))
    for rows, others, lengths in tiles(A, B, metric, 16):
        np.testing.assert_array_equal(lengths, expected[rows, others])


def test_against_the_formula() -> None:
    X = table(30, 9)
    gaps = X[:, np.newaxis] - X
    A = stored(X)
    np.testing.assert_allclose(pairwise(A), np.sqrt(np.square(gaps).sum(axis=2)))
    np.testing.assert_allclose(pairwise(A, metric="manhattan"), np.abs(gaps).sum(axis=2))
    np.testing.assert_allclose(pairwise(A, metric="hamming"), (gaps != 0).mean(axis=2))
    w = np.arange(9.0)
    weighted = (w * np.abs(gaps) ** 3).sum(axis=2) ** (1 / 3)
    np.testing.assert_allclose(pairwise(A, metric="minkowski", p=3, w=w), weighted)
    np.testing.assert_array_equal(pairwise(A, metric=lambda x, y: (x - y).max()), gaps.max(axis=2))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_extreme_rows_are_scaled_as_dense_ones_are(scale: float, kind: Any) -> None:
    X = table(20, 5) * scale
    for metric in ("euclidean", "braycurtis", "cosine"):
        np.testing.assert_array_equal(pairwise(kind(X), metric=metric), pairwise(X, metric=metric))


def test_a_stored_gap_is_a_gap() -> None:
    X = table(20, 5)
    X[3, 2] = np.nan
    expected = pairwise(X, metric="nan_euclidean")
    np.testing.assert_array_equal(pairwise(sp.csr_array(X), metric="nan_euclidean"), expected)
    with pytest.raises(ValueError, match=r"^pairwise: Input X contains NaN in column 2 \(row 3\)"):
        pairwise(sp.csr_array(X))
    with pytest.raises(ValueError, match=r"^pairwise: Input Y contains NaN in column 2 \(row 3\)"):
        pairwise(table(4, 5), sp.csr_array(X))


def test_memory_is_that_of_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.distance._sparse_rows._TILE_NUMBERS", 1 << 16)
    X = sp.random_array((100, 100_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    dense_bytes = 8 * 100 * 100_000
    tracemalloc.start()
    found = pairwise(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < dense_bytes / 4
    assert found.shape == (100, 100)


def test_what_needs_all_rows_refuses_those_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.csr_array(table(300, 7))
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"^spanning_tree: sparse rows made dense need"):
        coterie.spanning_tree(X)


def test_rows_that_lead_astray_are_refused() -> None:
    X = sp.csr_matrix(table(20, 5))
    X.indices[3] = 10**8
    for ask in (pairwise, condensed, coterie.spanning_tree, coterie.linkage):
        with pytest.raises(ValueError, match="index arrays contradict each other"):
            ask(X)
    with pytest.raises(ValueError, match="Y is a sparse matrix whose index arrays"):
        pairwise(table(20, 5), X)


def test_what_stands_on_metrics_takes_csr() -> None:
    X, Q = table(60, 6), table(7, 6, seed=2)
    A, B = stored(X, np.int64), stored(Q)
    for metric in ("euclidean", "cosine", "manhattan", "jaccard"):
        for method in METHODS:
            np.testing.assert_array_equal(
                coterie.linkage(A, method, metric), coterie.linkage(X, method, metric)
            )
        for dense_one, sparse_one in (
            (coterie.neighbors.knn(X, 3, Q, metric=metric), (A, 3, B)),
            (coterie.neighbors.knn(X, 3, metric=metric), (A, 3)),
        ):
            found = coterie.neighbors.knn(*sparse_one, metric=metric)
            np.testing.assert_array_equal(found.ids, dense_one.ids)
            np.testing.assert_array_equal(found.dists, dense_one.dists)
        tree, expected = (coterie.spanning_tree(rows, metric=metric) for rows in (A, X))
        np.testing.assert_array_equal(tree.lengths, expected.lengths)
        np.testing.assert_array_equal(tree.heads, expected.heads)
    for model in (coterie.AgglomerativeClustering(3), coterie.HDBSCAN(3), coterie.DBSCAN(2.0)):
        np.testing.assert_array_equal(model.fit(A).labels_, model.fit(X).labels_)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_gower_reads_no_sparse_tables(kind: Any) -> None:
    X = table(20, 5)
    with pytest.raises(ValueError, match=r"^pairwise: metric='gower' .* X is a sparse matrix"):
        pairwise(kind(X), metric="gower")
    with pytest.raises(ValueError, match=r"^pairwise: metric='gower' .*; pass Y.toarray\(\)"):
        pairwise(X, kind(X), "gower")


METHODS = ("single", "complete", "average", "weighted")


def test_parts_of_sparse_rows_are_sparse() -> None:
    rows = as_metric("cosine").prepare_tiles(sp.csr_array(table(20, 5)))
    assert isinstance(rows, SparseRows)
    assert rows.shape == (20, 6)  # a column more for rows of zeros
    assert rows.dtype == np.float64
    assert isinstance(rows[3:5], SparseRows)
    assert len(list(rows.tiles())) == 2
