"""Rows as small or large as float64 holds: the tree of the same rows times a power of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coterie
from coterie.hierarchy import METHODS

FAR = [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300]


def rows() -> Any:
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize("scale", FAR)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("method", METHODS)
def test_heights_scale_with_the_rows(method: str, metric: str, scale: float) -> None:
    if method in ("ward", "centroid", "median") and metric != "euclidean":
        return
    X = rows()
    Z = coterie.linkage(X * scale, method, metric)
    expected = coterie.linkage(X, method, metric)
    np.testing.assert_array_equal(Z[:, :2], expected[:, :2])
    np.testing.assert_allclose(Z[:, 2] / scale, expected[:, 2], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_high_powers_overflow_earlier(scale: float) -> None:
    X = rows()
    Z = coterie.linkage(X * scale, "average", "minkowski", p=9)
    expected = coterie.linkage(X, "average", "minkowski", p=9)
    np.testing.assert_allclose(Z[:, 2] / scale, expected[:, 2], rtol=1e-12)


@pytest.mark.parametrize("scale", FAR)
@pytest.mark.parametrize("method", METHODS)
def test_clusters_and_predictions_too(method: str, scale: float) -> None:
    X = rows()
    model = coterie.AgglomerativeClustering(4, linkage=method)
    expected = model.fit(X).labels_, model.predict(X[::-1])
    found = model.fit(X * scale).labels_, model.predict(X[::-1] * scale)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", FAR)
@pytest.mark.parametrize("method", METHODS)
def test_along_connections(method: str, scale: float) -> None:
    X, chain = rows(), np.eye(50, k=1)
    Z = coterie.linkage(X * scale, method, connectivity=chain)
    expected = coterie.linkage(X, method, connectivity=chain)
    np.testing.assert_array_equal(Z[:, :2], expected[:, :2])
    np.testing.assert_allclose(Z[:, 2] / scale, expected[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_distances_beyond_float64_are_refused(method: str) -> None:
    X = [[1.7e308, 1.7e308], [-1.7e308, -1.7e308], [0.0, 0.0]]
    with pytest.raises(ValueError, match=r"^linkage: .*(not finite|overflow).*scale the rows down"):
        coterie.linkage(X, method)
