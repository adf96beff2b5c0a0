"""Agglomerative clustering under metrics with parameters, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import coterie

CASES: list[tuple[str, dict[str, Any]]] = [
    ("braycurtis", {}), ("canberra", {}), ("seuclidean", {}), ("mahalanobis", {}),
    ("seuclidean", {"V": np.array([1.0, 2.0, 3.0])}),
    ("mahalanobis", {"VI": np.diag([1.0, 2.0, 3.0])}),
    ("minkowski", {"p": 3, "w": np.array([1.0, 2.0, 3.0])}),
]  # fmt: skip


@pytest.mark.parametrize("method", ["average", "complete", "single"])
@pytest.mark.parametrize(("metric", "params"), CASES)
def test_merges_are_scipys(metric: str, params: Any, method: str) -> None:
    X = np.random.default_rng(0).uniform(1, 9, size=(60, 3))  # of one sign: no ties
    expected = hierarchy.linkage(pdist(X, metric, **params), method)
    found = coterie.linkage(X, method, metric, **params)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    model = coterie.AgglomerativeClustering(
        3, metric=metric, linkage=method, metric_params=params or None
    ).fit(X)
    np.testing.assert_allclose(model.Z_, expected, rtol=1e-11)
    few = coterie.AgglomerativeClustering(60, metric=metric, linkage=method, metric_params=params)
    few.fit(X)
    np.testing.assert_array_equal(few.predict(X[:5]), few.labels_[:5])


@pytest.mark.parametrize("method", ["ward", "centroid"])
def test_centres_of_huge_rows_are_not_scaled_away(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    heights = coterie.linkage(X * 1e140, method)[:, 2]
    np.testing.assert_allclose(heights / 1e140, coterie.linkage(X, method)[:, 2], rtol=1e-10)


def test_given_distances_have_no_parameters() -> None:
    table = np.zeros((3, 3))
    model = coterie.AgglomerativeClustering(
        2, metric="precomputed", linkage="single", metric_params={"p": 2}
    )
    with pytest.raises(ValueError, match="takes none"):
        model.fit(table)
