"""Any small table ends in a valid result or a sentence of ours, with every invariant checked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import BisectingKMeans, KMeans, MiniBatchKMeans
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._sphere import unit_rows


@st.composite
def tables(draw):
    """Rows with duplicates, constant columns and any scale, dense or sparse, float32 or float64."""
    n_rows, n_cols = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cell = draw(st.sampled_from([st.integers(-2, 2), st.integers(-30, 30), st.floats(-1, 1)]))
    cells = draw(st.lists(cell, min_size=n_rows * n_cols, max_size=n_rows * n_cols))
    X = np.array(cells, dtype=np.float64).reshape(n_rows, n_cols)
    X = np.where(np.abs(X) < 1e-6, 0.0, X) / 10
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    scales = [1.0, 1e-15, 1e15] if dtype == np.float32 else [1.0, 1e-100, 1e100, 1e-9]
    X = X * draw(st.sampled_from(scales)) + draw(st.sampled_from([0.0, 0.0, 1e5, 1e15]))
    X = X.astype(dtype)
    return sp.csr_matrix(X) if draw(st.booleans()) else X


def weights_for(n_rows):
    weight = st.sampled_from([0.0, 1.0, 0.3, 2.0, 1e-12, 1e12])
    return st.none() | st.lists(weight, min_size=n_rows, max_size=n_rows)


def fitted(model, X, weights):
    """The model, or None where it was refused by a sentence that names it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(X, sample_weight=weights)
        except ValueError as error:
            if not str(error).startswith(f"{type(model).__name__}: "):
                raise
            return None


def check_result(model, X, weights):
    centers = model.cluster_centers_.astype(np.float64)
    assert np.isfinite(centers).all()
    assert np.array_equal(model.labels_, model.predict(X))
    rows = X
    if getattr(model, "metric", "") == "cosine":
        rows = unit_rows(rows)
        np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1.0, rtol=1e-6)
    rows = rows.toarray() if sp.issparse(rows) else rows
    sq_dists = np.square(rows.astype(np.float64) - centers[model.labels_]).sum(axis=1)
    sse = float(sq_dists @ (np.ones(X.shape[0]) if weights is None else np.asarray(weights)))
    assert model.inertia_ == pytest.approx(sse, rel=1e-9, abs=1e-300)


def options_checked():
    return coterie.options(check_invariants=True, n_threads=1)


@settings(max_examples=150)
@given(data=st.data(), X=tables())
def test_kmeans(data, X):
    weights = data.draw(weights_for(X.shape[0]))
    model = KMeans(
        data.draw(st.integers(1, X.shape[0])),
        init=data.draw(st.sampled_from([*SEEDINGS])),
        n_init=data.draw(st.integers(1, 2)),
        algorithm=data.draw(st.sampled_from(["auto", "lloyd", "hamerly", "yinyang"])),
        metric=data.draw(st.sampled_from(["euclidean", "euclidean", "cosine"])),
        tol=data.draw(st.sampled_from([0.0, 1e-4])),
        random_state=data.draw(st.integers(0, 99)),
    )
    with options_checked():
        if fitted(model, X, weights) is not None:
            check_result(model, X, weights)


@settings(max_examples=100)
@given(data=st.data(), X=tables())
def test_bisecting(data, X):
    weights = data.draw(weights_for(X.shape[0]))
    model = BisectingKMeans(
        data.draw(st.integers(1, X.shape[0])),
        init=data.draw(st.sampled_from([*SEEDINGS])),
        n_init=data.draw(st.integers(1, 2)),
        bisecting_strategy=data.draw(st.sampled_from(["biggest_inertia", "largest_cluster"])),
        random_state=data.draw(st.integers(0, 99)),
    )
    with options_checked():
        if fitted(model, X, weights) is not None:
            check_result(model, X, weights)


@settings(max_examples=100)
@given(data=st.data(), X=tables())
def test_mini_batches(data, X):
    weights = data.draw(weights_for(X.shape[0]))
    model = MiniBatchKMeans(
        data.draw(st.integers(1, X.shape[0])),
        init=data.draw(st.sampled_from([*SEEDINGS])),
        batch_size=data.draw(st.integers(1, 20)),
        max_iter=3,
        random_state=data.draw(st.integers(0, 99)),
    )
    with options_checked():
        if fitted(model, X, weights) is not None:
            check_result(model, X, weights)


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
def test_a_leaf_of_one_distinct_row_is_not_split(weights):
    X = np.array([[3.0], [2.0], [2.0]])
    with options_checked(), pytest.warns(ConvergenceWarning, match="found smaller"):
        model = BisectingKMeans(3, random_state=0).fit(X, sample_weight=weights)
    check_result(model, X, weights)


def test_cosine_with_a_row_of_zeros_descends():
    X = np.array([[2.0, 0], [0, 0], [0, 1]])
    with options_checked():
        model = KMeans(1, metric="cosine", random_state=1051).fit(X)
    for entry in model.history_:
        assert entry["objective_update"] <= entry["objective_assign"] + 1e-12
    check_result(model, X, None)
