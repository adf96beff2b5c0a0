"""What stands at every door: rows that cannot be taken are refused in a sentence that helps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coterie
from coterie import _checks


def masked(n_masked: int, dtype: Any = np.float64) -> Any:
    """Rows of two groups, of which some cells are masked."""
    rng = np.random.default_rng(0)
    X = np.ma.masked_array(np.r_[rng.normal(size=(15, 2)), 9 + rng.normal(size=(15, 2))])
    X = X.astype(dtype)
    for i in range(n_masked):
        X[3 + i, 1] = np.ma.masked
    X.data[X.mask] = -9999
    return X


def square(X: Any) -> Any:
    """Distances of rows, of which one is masked."""
    return np.ma.masked_array(coterie.distance.pairwise(X.data), np.eye(len(X), k=1) == 1)


REFUSING = [
    coterie.KMeans(2, random_state=0),
    coterie.BisectingKMeans(2, random_state=0),
    coterie.MiniBatchKMeans(2, random_state=0),
    coterie.AgglomerativeClustering(2),
    coterie.AgglomerativeClustering(2, linkage="average"),
    coterie.DBSCAN(eps=1.5),
]


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_masked_cells_are_refused(model: Any) -> None:
    name = type(model).__name__
    words = rf"^{name}: X is a masked array with 3 masked cells \(the first in row 3, column 1\); "
    with pytest.raises(ValueError, match=words + r"fill them \(X\.filled\(...\)\) or use Gauss"):
        model.fit(masked(3))


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_a_masked_array_without_masked_cells_is_its_data(model: Any) -> None:
    X = masked(0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(X.data).labels_)


@pytest.mark.parametrize(
    "function",
    [
        coterie.linkage,
        lambda X: coterie.linkage(X[:, 1]),
        lambda X: coterie.linkage(square(X), "single", "precomputed"),
        lambda X: coterie.kmeans_plusplus(X, 2),
        coterie.distance.pairwise,
        coterie.spanning_tree,
        lambda X: coterie.DBSCAN(metric="precomputed").fit(square(X)),
        lambda X: coterie.KMeans(2).fit(X.data, sample_weight=X[:, 1]),
    ],
)
def test_functions_refuse_masked_cells(function: Any) -> None:
    with pytest.raises(ValueError, match=r"is a masked array with .* masked cell"):
        function(masked(1))


def test_masked_cells_are_missing_where_missing_cells_are_known() -> None:
    X = masked(2)
    model = coterie.HDBSCAN(min_cluster_size=5).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ == -3), [3, 4])
    np.testing.assert_array_equal(
        coterie.distance.pairwise(X, metric="gower"),
        coterie.distance.pairwise(X.filled(np.nan), metric="gower"),
    )


def test_masked_cells_as_nan() -> None:
    X = masked(1)
    filled = _checks.nan_for_masked(X)
    assert type(filled) is np.ndarray
    assert np.isnan(filled[3, 1])
    assert np.isnan(filled).sum() == 1
    assert _checks.nan_for_masked(masked(1, np.float32)).dtype == np.float32
    whole = _checks.nan_for_masked(masked(1, np.int64))
    assert whole.dtype == np.float64
    assert np.isnan(whole[3, 1])
    words = np.ma.masked_array(np.array([["a", "b"]], dtype=object), [[False, True]])
    assert _checks.nan_for_masked(words).tolist() == [["a", None]]
    text = np.ma.masked_array(np.array([["a", "b"]]), [[False, True]])
    assert _checks.nan_for_masked(text).tolist() == [["a", None]]
    rows = np.ones((2, 2))
    assert _checks.nan_for_masked(rows) is rows
