"""Means of few rows are correctly rounded, wherever the rows lie and however many there are."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from coterie import KMeans
from coterie.centroid import _streamed
from coterie.data.npy import NpySource

DECIMALS = [[0.6], [0.1], [-0.8], [-0.5]]


def exact_means(X, labels, n_clusters, weights=None):
    """The correctly rounded mean of every cluster, by fractions."""
    weights = np.ones(len(X)) if weights is None else weights
    means = np.empty((n_clusters, X.shape[1]))
    for cluster in range(n_clusters):
        rows = np.flatnonzero(labels == cluster)
        total = sum((Fraction(float(weights[i])) for i in rows), Fraction(0))
        for col in range(X.shape[1]):
            terms = (Fraction(float(weights[i])) * Fraction(float(X[i, col])) for i in rows)
            means[cluster, col] = float(sum(terms, Fraction(0)) / total)
    return means


def settled(X, n_clusters, **fit):
    return KMeans(n_clusters, init="random", n_init=1, random_state=0, tol=0).fit(X, **fit)


@pytest.mark.parametrize("as_rows", [np.array, sp.csr_matrix])
def test_decimal_ties_stay_ties(as_rows):
    model = KMeans(2, init=[[0.6], [0.1]], tol=0).fit(as_rows(DECIMALS))
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.cluster_centers_.tolist() == [[0.35], [-0.65]]


@pytest.mark.parametrize("n_rows", [20, 3000, 70_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_is_its_own_centre_at_any_number_of_rows(n_rows, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)).astype(dtype)
    X[7] = [100.1, -70.3, 0.3]
    model = KMeans(2, init=X[[7, 0]], n_init=1).fit(X)
    assert np.count_nonzero(model.labels_ == 0) == 1
    assert np.array_equal(model.cluster_centers_[0], X[7])


def test_two_rows_far_out_have_a_rounded_mean_among_many():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30_000, 2))
    X[[5, 90]] = [[1000.1, 0.3], [1000.7, 1e-17]]
    for weights in (None, rng.uniform(0.1, 3.0, size=len(X))):
        model = KMeans(2, init=X[[5, 0]], n_init=1).fit(X, sample_weight=weights)
        few = model.labels_ == 0
        assert np.flatnonzero(few).tolist() == [5, 90]
        some = None if weights is None else weights[few]
        expected = exact_means(X[few], np.zeros(2, dtype=int), 1, some)
        assert np.array_equal(model.cluster_centers_[0], expected[0])


values = st.floats(-1e6, 1e6) | st.integers(-30, 30).map(lambda v: v / 10)


@given(
    rows=st.lists(st.tuples(values, values), min_size=4, max_size=12),
    weighted=st.booleans(),
    n_clusters=st.integers(1, 4),
)
def test_small_tables_have_exact_means_dense_and_sparse(rows, weighted, n_clusters):
    X = np.array(rows)
    if 0 < np.ptp(X, axis=0).max() < 1e-140:
        return
    X[np.abs(X) < 1e-300] = 0.0
    weights = None
    if weighted:
        weights = np.random.default_rng(len(rows)).choice([0.1, 0.7, 1.0, 2.5], size=len(X))
    start = X[:n_clusters]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dense = KMeans(n_clusters, init=start, tol=0).fit(X, sample_weight=weights)
        sparse = KMeans(n_clusters, init=start, tol=0).fit(sp.csr_matrix(X), sample_weight=weights)
    assert np.array_equal(dense.labels_, sparse.labels_)
    used = np.unique(dense.labels_)
    if dense.history_[-1]["n_changed"] == 0 and used.size == n_clusters:
        expected = exact_means(X, dense.labels_, n_clusters, weights)
        assert np.array_equal(dense.cluster_centers_, expected)
    assert np.array_equal(dense.cluster_centers_[used], sparse.cluster_centers_[used])


def test_rows_on_disk_have_the_same_means(tmp_path, monkeypatch):
    X = np.random.default_rng(2).normal(size=(500, 3))
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr(NpySource, "block_bytes", 1000)
    monkeypatch.setattr(_streamed, "_FEW_VALUES", 100_000)
    for n_clusters in (3, 200):
        mapped, plain = settled(on_disk, n_clusters), settled(X, n_clusters)
        assert np.array_equal(mapped.cluster_centers_, plain.cluster_centers_)
        assert np.array_equal(mapped.labels_, plain.labels_)


def test_kernel_agrees_with_fractions_on_every_instruction_set(isa_kernels):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5)) * 10.0 ** rng.integers(-8, 8, size=(60, 5))
    labels = rng.integers(0, 9, size=60).astype(np.int32)
    few = np.ones(9, dtype=bool)
    few[4] = False
    weights = rng.uniform(0.01, 1.0, size=60)
    csr = sp.csr_matrix(X)
    for given_weights in (None, weights):
        expected = exact_means(X, labels, 9, given_weights)
        expected[4] = -1.0
        for n_threads in (1, 3):
            means = np.full((9, 5), -1.0)
            isa_kernels.few_means(X, given_weights, labels, few, 1.0, means, n_threads)
            assert np.array_equal(means, expected)
            means = np.full((9, 5), -1.0)
            isa_kernels.few_means(csr, given_weights, labels, few, 1.0, means, n_threads)
            assert np.array_equal(means, expected)
    counts = np.full(9, -1)
    isa_kernels.count_labels(labels, counts)
    assert counts.tolist() == np.bincount(labels, minlength=9).tolist()
