"""What holds for every linkage of any rows: order of heights, cuts, predictions, bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.hierarchy import METHODS

#: Heights of these never fall: a union is no nearer to a third cluster than its parts were.
MONOTONE = ("single", "complete", "average", "weighted", "ward")


def as_array(X: Any, kind: str) -> Any:
    """The same rows, laid out in another way."""
    if kind == "frozen":
        X = X.copy()
        X.flags.writeable = False
    elif kind == "frame":
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    elif kind == "list":
        return X.tolist()
    elif kind == "strided":
        return np.repeat(X, 2, axis=0)[::2]
    return np.asfortranarray(X) if kind == "fortran" else X


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Rows full of ties, copies and constant columns, of any scale, dtype and layout."""
    n_rows, n_cols = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = draw(
        st.sampled_from(
            [
                rng.normal(size=(n_rows, n_cols)),
                rng.integers(0, 3, (n_rows, n_cols)),
                np.repeat(rng.normal(size=(1, n_cols)), n_rows, axis=0),
                rng.normal(size=(n_rows, n_cols)) * (np.arange(n_cols) > 0),
                rng.normal(size=(n_rows, n_cols))[rng.integers(0, n_rows, n_rows)],
                rng.normal(size=(n_rows, n_cols)) + 1e8,
            ]
        )
    )
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int64]))
    if dtype != np.int64:
        largest = 30 if dtype == np.float32 else 290
        X = X * 10.0 ** draw(st.sampled_from([0, 0, -largest, largest, -largest // 3, 5]))
    kind = draw(st.sampled_from(["plain", "fortran", "frozen", "frame", "list", "strided"]))
    return as_array(X.astype(dtype), kind)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(X=tables(), data=st.data())
def test_a_tree_is_a_tree(method: str, X: Any, data: st.DataObject) -> None:
    n_rows = len(X)
    Z = coterie.linkage(X, method, n_threads=1)
    assert Z.shape == (n_rows - 1, 4)
    assert np.isfinite(Z).all()
    assert (Z[:, 2] >= 0).all()
    np.testing.assert_array_equal(np.sort(Z[:, :2].ravel()), np.arange(2 * n_rows - 2))
    assert (Z[:, 1] < n_rows + np.arange(n_rows - 1)).all()
    assert Z[-1, 3] == n_rows
    if method in MONOTONE:
        assert (np.diff(Z[:, 2]) >= 0).all()
    for n_threads in (2, 3):
        np.testing.assert_array_equal(coterie.linkage(X, method, n_threads=n_threads), Z)

    n_clusters = data.draw(st.integers(1, n_rows))
    model = coterie.AgglomerativeClustering(n_clusters, linkage=method).fit(X)
    np.testing.assert_array_equal(model.Z_, Z)
    for labels in (model.labels_, model.cut(n_clusters)):
        np.testing.assert_array_equal(np.unique(labels), np.arange(n_clusters))
    predicted = model.predict(X)
    assert set(predicted) <= set(range(n_clusters))
    # A cluster of single linkage is nearer to its own rows, at 0, than to any other, unless they
    # have copies there.
    rows = np.asarray(X)
    if method == "single" and len(np.unique(rows, axis=0)) == n_rows:
        np.testing.assert_array_equal(predicted, model.labels_)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15, deadline=None)
@given(X=tables())
def test_layout_changes_nothing(method: str, X: Any) -> None:
    rows = np.ascontiguousarray(X)
    expected = coterie.linkage(rows, method)
    for kind in ("fortran", "frozen", "frame", "strided"):
        np.testing.assert_array_equal(coterie.linkage(as_array(rows, kind), method), expected)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30, deadline=None)
@given(X=tables(), data=st.data())
def test_cells_that_are_no_numbers_are_refused(method: str, X: Any, data: st.DataObject) -> None:
    rows = np.array(X, dtype=np.float64)
    i = data.draw(st.integers(0, rows.shape[0] - 1))
    rows[i, -1] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    with pytest.raises(ValueError, match=rf"^linkage: Input X contains .*\(row {i}\)"):
        coterie.linkage(rows, method)
