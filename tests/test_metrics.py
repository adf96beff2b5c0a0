"""Metrics with parameters or of 0/1 rows: against SciPy, naive twins, and what must always hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import nan_euclidean_distances

from coterie import linkage
from coterie.distance import METRICS, NAMES, as_metric, condensed, pairwise, rows_to, tiles
from coterie.neighbors import count_within, knn, spanning_tree, within

BOOLEAN = ["jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]
PLAIN = ["braycurtis", "canberra", "seuclidean", "mahalanobis"]
#: Those that keep the triangle inequality; the others are dissimilarities.
TRIANGULAR = [
    "euclidean", "manhattan", "chebyshev", "seuclidean", "mahalanobis", "canberra", "hamming",
    "jaccard", "rogerstanimoto", "sokalsneath", "haversine",
]  # fmt: skip


def rows(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def bits(n: int, d: int, seed: int = 0) -> Any:
    found = (np.random.default_rng(seed).random((n, d)) < 0.4).astype(float)
    found[:, 0] = 1  # no row is empty
    return found


def suited(metric: str, X: Any) -> Any:
    """Rows that the metric is about."""
    if metric in BOOLEAN:
        return (X > 0).astype(X.dtype)
    return X[:, :2] if metric == "haversine" else X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 17])
@pytest.mark.parametrize("metric", PLAIN)
def test_new_metrics_are_scipys(metric: str, d: int, dtype: Any) -> None:
    X, Y = rows(50, d, dtype), rows(30, d, dtype, seed=1)
    exact = X.astype(float)
    params: dict[str, Any] = {}
    if metric == "seuclidean":
        params = {"V": exact.var(axis=0, ddof=1)}
    elif metric == "mahalanobis":
        params = {"VI": np.linalg.inv(np.atleast_2d(np.cov(exact.T)))}
    expected = cdist(exact, Y.astype(float), metric, **params)
    np.testing.assert_allclose(pairwise(X, Y, metric), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pairwise(X, Y, metric, **params), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(condensed(X, metric), pdist(exact, metric), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_columns_of_minkowski_have_weights(p: float) -> None:
    X, Y, w = rows(40, 5), rows(30, 5, seed=1), np.array([1.0, 0.0, 2.5, 0.1, 7.0])
    expected = cdist(X, Y, "minkowski", p=p, w=w)
    np.testing.assert_allclose(pairwise(X, Y, "minkowski", p=p, w=w), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", BOOLEAN)
def test_0_and_1_are_compared_as_scipy_does(metric: str) -> None:
    X, Y = bits(40, 9), bits(30, 9, seed=1)
    expected = cdist(X.astype(bool), Y.astype(bool), metric)
    np.testing.assert_allclose(pairwise(X, Y, metric), expected, rtol=1e-12)
    np.testing.assert_allclose(
        condensed(X.astype(np.float32), metric), pdist(X.astype(bool), metric), rtol=1e-12
    )


@pytest.mark.parametrize("metric", BOOLEAN)
def test_any_other_number_counts_as_1(metric: str) -> None:
    X = bits(30, 7) * rows(30, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it converts
        expected = pairwise_distances(X, X.copy(), metric=metric)
    np.testing.assert_allclose(pairwise(X, metric=metric), expected, rtol=1e-12, atol=1e-15)


def test_missing_cells_are_left_out_of_nan_euclidean() -> None:
    X = rows(30, 6)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    expected = nan_euclidean_distances(X)
    expected[np.isnan(expected)] = np.inf
    found = pairwise(X, metric="nan_euclidean")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-7)


def test_nothing_of_nothing_is_no_difference() -> None:
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    for metric in ("jaccard", "dice", "sokalsneath", "yule", "braycurtis", "canberra"):
        assert (np.diag(pairwise(X, metric=metric)) == 0).all()
    np.testing.assert_array_equal(pairwise(X, metric="braycurtis"), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(pairwise(X, metric="canberra"), [[0, 2], [2, 0]])
    opposite = np.array([[1.0, 2.0], [-1.0, -2.0]])
    assert pairwise(opposite, metric="braycurtis")[0, 1] == np.inf


def test_other_names_are_the_same_metrics() -> None:
    X = rows(12, 4)
    names = {
        "l1": "manhattan", "l2": "euclidean", "infinity": "chebyshev", "p": "minkowski",
        "matching": "hamming", "sokalmichener": "rogerstanimoto", "cityblock": "manhattan",
    }  # fmt: skip
    assert set(METRICS) | set(names) == set(NAMES)
    for other, name in names.items():
        np.testing.assert_array_equal(pairwise(X, metric=other), pairwise(X, metric=name))


# What must always be true.


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "gower"])
def test_tables_tiles_and_rows_have_the_same_bits(metric: str) -> None:
    X = suited(metric, rows(45, 5))
    table = pairwise(X, metric=metric)
    np.testing.assert_array_equal(table, table.T)
    made = as_metric(metric, X)
    prepared = made.prepare(X)
    for i in (0, 44):
        one = made.lengths(made.prepare(X[i : i + 1]), prepared)[0]
        np.testing.assert_array_equal(one, table[i])
        np.testing.assert_array_equal(rows_to(X, X[i], metric), table[:, i])
    for of_rows, of_others, block in tiles(X, metric=metric, tile=16):
        np.testing.assert_array_equal(block, table[of_rows, of_others])
    np.testing.assert_array_equal(condensed(X, metric), table[np.triu_indices(45, 1)])
    for n_threads in (1, 3):
        np.testing.assert_array_equal(pairwise(X, metric=metric, n_threads=n_threads), table)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "gower"])
def test_neighbours_trees_and_linkages_use_every_metric(metric: str) -> None:
    X = suited(metric, rows(300, 4))
    table = pairwise(X, metric=metric)
    found = knn(X, 3, metric=metric)
    np.testing.assert_array_equal(found.dists, np.sort(table, axis=1)[:, :3])
    radius = float(np.quantile(table, 0.1)) * (1 + 1e-9)
    counts = (table <= radius).sum(axis=1)
    np.testing.assert_array_equal(count_within(X, radius, metric=metric), counts)
    np.testing.assert_array_equal(np.diff(within(X, radius, metric=metric).indptr), counts)
    by_tiles = spanning_tree(X, metric=metric, method="brute")
    found_tree = spanning_tree(X, metric=metric)
    np.testing.assert_array_equal(found_tree.lengths, by_tiles.lengths)
    heights = linkage(X, "single", metric)[:, 2]
    np.testing.assert_array_equal(heights, by_tiles.lengths)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "gower"])
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 6), whole=st.booleans())
def test_distances_are_distances(metric: str, seed: int, d: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=10.0 ** rng.integers(-3, 4), size=(12, d))
    if whole:
        X = np.round(X) + rng.normal(size=(1, d))
    X = suited(metric, X.astype(np.float32))
    params: dict[str, Any] = {}
    if metric == "seuclidean":
        params = {"V": rng.uniform(0.1, 3, d)}
    elif metric == "mahalanobis":
        factor = rng.normal(size=(d, d))
        params = {"VI": factor @ factor.T}
    table = pairwise(X, metric=metric, **params)
    assert (table >= 0).all()
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(table, pairwise(X.astype(float), metric=metric, **params))
    if metric != "russellrao":
        assert (np.diag(table) == 0).all()
    if metric in TRIANGULAR:
        way = (table[:, :, np.newaxis] + table[np.newaxis]).min(axis=1)
        assert (table <= way * (1 + 1e-9) + 1e-12).all()


# Near the limits of float64.


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-300, 1e150, 1e300])
@pytest.mark.parametrize(
    ("metric", "params"),
    [("euclidean", {}), ("minkowski", {"p": 3}), ("minkowski", {"p": 2, "w": [1, 2, 3, 4]}),
     ("nan_euclidean", {}), ("cosine", {}), ("correlation", {})],
)  # fmt: skip
def test_huge_and_tiny_rows_keep_their_distances(metric: str, params: Any, scale: float) -> None:
    X = rows(300, 4)
    usual = pairwise(X, metric=metric, **params)
    grows = 1.0 if metric in ("cosine", "correlation") else scale
    found = pairwise(X * scale, metric=metric, **params)
    np.testing.assert_allclose(found / grows, usual, rtol=1e-11, atol=1e-14)
    near = knn(X * scale, 4, metric=metric, **params)
    expected = knn(X, 4, metric=metric, **params)
    np.testing.assert_allclose(near.dists / grows, expected.dists, rtol=1e-11, atol=1e-14)
    tree = spanning_tree(X * scale, metric=metric, **params)
    np.testing.assert_allclose(
        tree.lengths / grows, spanning_tree(X, metric=metric, **params).lengths,
        rtol=1e-11, atol=1e-14,
    )  # fmt: skip


def test_cells_at_the_limit_are_correlated() -> None:
    X = np.where(np.random.default_rng(0).random((300, 3)) < 0.5, 1.7e308, -1.7e308)
    expected = pairwise(np.sign(X), metric="correlation")
    np.testing.assert_allclose(pairwise(X, metric="correlation"), expected, atol=1e-15)
    assert np.isfinite(knn(X, 3, metric="correlation").dists).all()


def test_high_powers_do_not_overflow() -> None:
    X = 1e6 * rows(30, 3)
    expected = 1e6 * cdist(X / 1e6, X / 1e6, "minkowski", p=40)
    np.testing.assert_allclose(pairwise(X, metric="minkowski", p=40), expected, rtol=1e-9)


def test_large_offsets_cost_mahalanobis_no_digits() -> None:
    X = np.round(rows(60, 3), 3)
    near = pairwise(X, metric="mahalanobis")
    np.testing.assert_allclose(pairwise(X + 2.0**20, metric="mahalanobis"), near, rtol=1e-6)


# Parameters.


@pytest.mark.parametrize(
    ("metric", "params", "match"),
    [
        ("seuclidean", {"V": [1.0, 0.0, 2.0]}, "that of column 1 is 0"),
        ("seuclidean", {"V": [1.0, 2.0]}, "V of the metric is for 2 columns and X has 3"),
        ("mahalanobis", {"VI": np.eye(2)}, "for 2 columns and X has 3"),
        ("mahalanobis", {"V": np.ones((3, 3))}, "3 columns has rank 1"),
        ("mahalanobis", {"VI": -np.eye(3)}, "the eigenvalue -1"),
        ("minkowski", {"w": [1.0, -1.0, 1.0]}, "the least is -1"),
        ("minkowski", {"w": [1.0]}, "w of the metric is for 1 columns and X has 3"),
    ],
)
def test_parameters_that_cannot_be_are_refused(metric: str, params: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pairwise(rows(20, 3), metric=metric, **params)


def test_rows_that_variances_cannot_be_learned_from_are_refused() -> None:
    collinear = rows(20, 2) @ np.array([[1.0, 0, 1], [0, 1, 1]])
    with pytest.raises(ValueError, match="3 columns has rank 2; pass more rows, leave out"):
        pairwise(collinear, metric="mahalanobis")
    with pytest.raises(ValueError, match="from two rows or more"):
        pairwise(rows(1, 2), metric="seuclidean")
    with pytest.raises(ValueError, match="variance of each column, and that of column 0 is 0"):
        pairwise(np.c_[np.ones(5), np.arange(5.0)], metric="seuclidean")
    with pytest.raises(ValueError, match="needs V, or rows to learn it from"):
        as_metric("seuclidean")


def test_unknown_parameters_are_refused_with_the_known_ones() -> None:
    with pytest.raises(TypeError, match=r"given q, which it does not take; .* are VI, V, center"):
        pairwise(rows(5, 2), metric="mahalanobis", q=1)
    with pytest.raises(TypeError, match="given V, which it does not take; it has no parameters"):
        pairwise(rows(5, 2), metric="canberra", V=[1, 1])


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_what_was_learned_makes_the_metric_again(metric: str) -> None:
    X = rows(40, 3)
    first = as_metric(metric, X)
    again = as_metric(metric, **first.learned)
    np.testing.assert_array_equal(first.prepare(X), again.prepare(X))


def test_singular_inverse_covariances_leave_directions_out() -> None:
    X = rows(9, 3)
    found = pairwise(X, metric="mahalanobis", VI=np.diag([1.0, 0.0, 4.0]))
    expected = cdist(X, X, "mahalanobis", VI=np.diag([1.0, 0.0, 4.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
