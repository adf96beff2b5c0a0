"""HDBSCAN where lengths tie: nothing depends on the order of rows, and equal rows are alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import HDBSCAN, load
from coterie.density._condense import find_levels
from coterie.distance import pairwise

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")

METRICS = [
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation",
    "haversine", "hamming", "jaccard", "gower", "precomputed",
]  # fmt: skip


def params_of(metric: str) -> dict[str, Any]:
    return {"metric": metric, "metric_params": {"p": 3} if metric == "minkowski" else None}


def taken(X: Any, metric: str, order: Any) -> Any:
    """Some rows, or the distances among them."""
    return pairwise(X)[np.ix_(order, order)] if metric == "precomputed" else X[order]


def canonical(labels: Any) -> Any:
    """Clusters numbered by their first rows."""
    kept = labels >= 0
    _, first, number = np.unique(labels[kept], return_index=True, return_inverse=True)
    out = labels.copy()
    out[kept] = np.argsort(np.argsort(first))[number]
    return out


def check_shuffles(X: Any, metric: str, n_shuffles: int, **params: Any) -> None:
    """The partition, probabilities and scores of shuffled rows are those of the rows, shuffled."""
    params |= params_of(metric)
    straight = HDBSCAN(**params).fit(taken(X, metric, np.arange(len(X))))
    np.testing.assert_array_equal(
        straight.predict(taken(X, metric, np.arange(len(X)))), straight.labels_
    )
    for seed in range(n_shuffles):
        order = np.random.default_rng(seed).permutation(len(X))
        other = HDBSCAN(**params).fit(taken(X, metric, order))
        assert other.min_cluster_size_ == straight.min_cluster_size_
        np.testing.assert_array_equal(canonical(other.labels_), canonical(straight.labels_[order]))
        np.testing.assert_array_equal(other.probabilities_, straight.probabilities_[order])
        np.testing.assert_array_equal(other.outlier_scores_, straight.outlier_scores_[order])


@settings(max_examples=300)
@given(
    st.integers(0, 2**31), st.integers(4, 40), st.integers(1, 3), st.sampled_from([1, 3, 9]),
    st.sampled_from(METRICS), st.integers(2, 7), st.integers(1, 15),
    st.sampled_from(["eom", "leaf"]), st.sampled_from([0.0, 1.0, 1.5]), st.booleans(),
    st.sampled_from([None, 3, 9]), st.sampled_from([1.0, 1.3]),
)  # fmt: skip
def test_shuffled_integers(
    seed: int, n: int, d: int, top: int, metric: str, size: int, k: int, method: str,
    epsilon: float, single: bool, largest: int | None, alpha: float,
) -> None:  # fmt: skip
    d = 2 if metric == "haversine" else d
    X = np.random.default_rng(seed).integers(0, top + 1, size=(n, d)).astype(float)
    check_shuffles(
        X, metric, 2, min_cluster_size=size, min_samples=min(k, n), cluster_selection_method=method,
        cluster_selection_epsilon=epsilon, allow_single_cluster=single, max_cluster_size=largest,
        alpha=alpha,
    )  # fmt: skip


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_shuffled_rows_of_a_tree(metric: str, method: str) -> None:
    X = np.random.default_rng(1).integers(0, 30, size=(600, 2)).astype(float)
    for size, k in ((5, 1), (5, 5), (15, 15), ("auto", 4)):
        check_shuffles(
            X, metric, 2, min_cluster_size=size, min_samples=k, cluster_selection_method=method
        )


def few_valued(n_rows: int = 990, n_cols: int = 10) -> Any:
    """Groups of rows with few distinct values in every column."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n_rows)
    return np.clip(np.round(2 * group[:, None] + rng.normal(size=(n_rows, n_cols))), -1, 6)


def standardised(X: Any) -> Any:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_standardised_table_of_few_values() -> None:
    check_shuffles(standardised(few_valued()), "euclidean", 4, min_cluster_size=15)


def test_a_table_standardised_after_the_shuffle() -> None:
    # Means summed in another order differ in the last bits, and so do all distances.
    X = few_valued(400, 4)
    straight = HDBSCAN(15).fit(standardised(X))
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(X))
        other = HDBSCAN(15).fit(standardised(X[order]))
        np.testing.assert_array_equal(canonical(other.labels_), canonical(straight.labels_[order]))
        np.testing.assert_allclose(
            other.probabilities_, straight.probabilities_[order], rtol=1e-9, atol=1e-9
        )


def test_levels() -> None:
    near = 1 + 4e-13
    lengths = np.array([-0.0, 0, 1e-310, 1, near, near**2, near**3, near**3 + 1e-9, np.inf, np.inf])
    expected = [0, 0, 0, near**2, near**2, near**2, near**3, near**3 + 1e-9, np.inf, np.inf]
    heights = find_levels(lengths)
    np.testing.assert_array_equal(heights, expected)
    assert not np.signbit(heights).any()
    assert find_levels(np.array([1.797e308, np.inf])).tolist() == [1.797e308, np.inf]


# Equal rows.


@settings(max_examples=300)
@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=20), st.integers(1, 2), st.integers(2, 4),
    st.integers(1, 6), st.sampled_from(["eom", "leaf"]), st.sampled_from(METRICS[:-1]),
    st.booleans(),
)  # fmt: skip
def test_equal_rows_share_a_label_and_keep_it(
    values: list[int], d: int, size: int, k: int, method: str, metric: str, single: bool
) -> None:
    d = 2 if metric == "haversine" else d
    X = np.array(values[: len(values) // d * d], dtype=float).reshape(-1, d)
    model = HDBSCAN(
        size, min(k, len(X)), cluster_selection_method=method, allow_single_cluster=single,
        **params_of(metric),
    ).fit(X)  # fmt: skip
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(model.labels_, model.labels_[first[group.ravel()]])
    again = model.predict_membership(X)
    np.testing.assert_array_equal(again.labels, model.labels_)
    np.testing.assert_array_equal(again.probabilities, model.probabilities_)


@pytest.mark.parametrize(
    ("values", "size", "k", "method"),
    [([1, 0, 2, 2, 2, 0], 2, 3, "eom"), ([4, 2, 3, 5, 3, 2], 2, 5, "leaf")],
)
def test_copies_are_not_told_apart(values: list[int], size: int, k: int, method: str) -> None:
    X = np.array(values, dtype=float)[:, np.newaxis]
    model = HDBSCAN(size, k, cluster_selection_method=method).fit(X)
    for value in set(values):
        assert len(set(model.labels_[X[:, 0] == value])) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("metric", ["chebyshev", lambda x, y: -0.0 if x[0] == y[0] else 1.0])
def test_no_length_is_negative(metric: Any) -> None:
    X = np.round(np.random.default_rng(0).normal(size=(60, 1)))
    model = HDBSCAN(metric=metric).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert not np.signbit(model.condensed_tree_["row_lambda"]).any()
    if metric == "chebyshev":
        assert not np.signbit(pairwise(X, metric=metric)).any()


def test_a_cluster_that_no_row_reaches_is_none() -> None:
    model = HDBSCAN(
        2, 3, cluster_selection_epsilon=0.5, allow_single_cluster=True, store_centers="both"
    ).fit([[1.0], [0.0], [-7.0], [1.0]])
    assert model.labels_.tolist() == [-1] * 4
    assert model.centroids_.shape == model.medoids_.shape == (0, 1)


# What is kept of X.


@pytest.mark.parametrize("form", ["array", "columns", "frame", "map", "sparse"])
def test_what_becomes_of_x_later_does_not_matter(form: str, tmp_path: Path) -> None:
    X = np.random.default_rng(2).normal([[0, 0]] * 40 + [[9, 9]] * 40)
    given_rows: Any = X.copy(order="F" if form == "columns" else "C")
    held = given_rows
    if form == "frame":
        given_rows = pd.DataFrame(held, copy=False)
    elif form == "map":
        np.save(tmp_path / "rows.npy", X)
        held = given_rows = np.load(tmp_path / "rows.npy", mmap_mode="r+")
    elif form == "sparse":
        given_rows = sp.csr_matrix(X)
        held = given_rows.data
    model = HDBSCAN(10).fit(given_rows)
    labels = model.predict(X)
    held[:] = 0.0
    np.testing.assert_array_equal(model.predict(X), labels)
    assert set(labels) >= {0, 1}


# Mixed tables.


def test_mixed_tables_predict(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    n = 150
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 30, size=n)),
            "kind": rng.choice(["a", "b", "c", None], size=n),
            "count": rng.integers(0, 5, size=n),
        }
    )
    model = HDBSCAN(5, 3, metric="gower").fit(table)
    assert model.labels_.max() > 0
    members = model.predict_membership(table)
    np.testing.assert_array_equal(members.labels, model.labels_)
    np.testing.assert_array_equal(members.probabilities, model.probabilities_)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(table), model.labels_)
    new = pd.DataFrame({"size": [np.nan, 3.0], "kind": [None, "new"], "count": [2, 1]})
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    by_table = HDBSCAN(5, 3, metric="precomputed").fit(pairwise(table, metric="gower"))
    np.testing.assert_array_equal(by_table.labels_, model.labels_)


# Tables of distances.


def test_a_row_counts_itself_in_sparse_tables_too() -> None:
    dists = pairwise(np.random.default_rng(0).normal(size=(60, 2)))
    dense = HDBSCAN(metric="precomputed").fit(dists)
    without = sp.csr_matrix(dists)  # the diagonal is not stored
    stored = sp.csr_matrix(
        (dists.ravel(), np.tile(np.arange(60), 60), np.arange(0, 3601, 60)), shape=(60, 60)
    )
    for table in (without, stored, sp.csr_array(without), dists + np.eye(60)):
        other = HDBSCAN(metric="precomputed").fit(table)
        np.testing.assert_array_equal(other.core_distances_, dense.core_distances_)
        np.testing.assert_array_equal(other.labels_, dense.labels_)
    np.testing.assert_array_equal(
        HDBSCAN(min_samples=1, metric="precomputed").fit(without).core_distances_, np.zeros(60)
    )


@pytest.mark.parametrize("table", [np.empty((0, 0)), sp.csr_matrix((0, 0))])
def test_no_rows_at_all(table: Any) -> None:
    with pytest.raises(ValueError, match=r"HDBSCAN: .*table of shape \(0, 0\); pass the distances"):
        HDBSCAN(metric="precomputed").fit(table)


def hostile(dtype: Any, part: str) -> Any:
    X = sp.random(50, 50, density=0.5, random_state=0, format="csr")
    X = (X + X.T).tocsr().astype(dtype)
    if part == "indices":
        X.indices[3] = 10**8
    else:
        X.indptr[5] = 10**8
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_hostile_sparse_tables(dtype: Any, part: str, metric: str) -> None:
    with pytest.raises(ValueError, match="HDBSCAN: X is a sparse matrix whose index arrays"):
        HDBSCAN(metric=metric).fit(hostile(dtype, part))
