"""Density methods under metrics with parameters: scikit-learn's labels, files, warnings."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import cluster
from sklearn.datasets import make_blobs

import coterie
from coterie.distance import pairwise
from coterie.errors import AdviceWarning

NUMBERS: list[tuple[str, dict[str, Any]]] = [
    ("braycurtis", {}), ("canberra", {}), ("seuclidean", {"V": np.array([1.0, 4.0, 0.5])}),
    ("mahalanobis", {"VI": np.diag([1.0, 0.25, 2.0])}),
    ("minkowski", {"p": 3, "w": np.array([1.0, 2.0, 0.5])}),
]  # fmt: skip
BOOLEAN = ["dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


def blobs(seed: int = 0) -> Any:
    return make_blobs(150, 3, centers=4, cluster_std=0.8, random_state=seed)[0]


def baskets(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    chance = rng.choice([0.05, 0.9], size=(4, 12))
    found = (rng.random((160, 12)) < np.repeat(chance, 40, axis=0)).astype(float)
    found[:, 0] = 1  # no basket is empty
    return found


def cases() -> list[Any]:
    found = [pytest.param(name, params, blobs(), id=name) for name, params in NUMBERS]
    return found + [pytest.param(name, {}, baskets(), id=name) for name in BOOLEAN]


def eps_of(X: Any, metric: str, params: Any) -> float:
    return float(np.quantile(pairwise(X, metric=metric, **params), 0.08)) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("metric", "params", "X"), cases())
def test_dbscan_has_scikit_learns_labels(metric: str, params: Any, X: Any) -> None:
    eps = eps_of(X, metric, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that bits are bits
        expected = cluster.DBSCAN(
            eps=eps, metric=metric, metric_params=params or None, algorithm="brute"
        ).fit(X)
        found = coterie.DBSCAN(eps, metric=metric, metric_params=params or None).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.predict(X), found.labels_)


@pytest.mark.parametrize(("metric", "params", "X"), cases())
def test_hdbscan_is_that_of_the_table(metric: str, params: Any, X: Any) -> None:
    table = pairwise(X, metric=metric, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)  # some see no clusters here
        model = coterie.HDBSCAN(10, metric=metric, metric_params=params or None).fit(X)
        by_table = coterie.HDBSCAN(10, metric="precomputed").fit(table)
    np.testing.assert_allclose(model.core_distances_, by_table.core_distances_, rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, by_table.labels_)
    assert model.predict(X[:7]).shape == (7,)


@pytest.mark.parametrize("kind", ["pickle", "file"])
@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
@pytest.mark.parametrize("method", ["dbscan", "hdbscan", "agglomerative"])
def test_what_was_learned_is_kept(method: str, metric: str, kind: str, tmp_path: Path) -> None:
    X = blobs() * [1.0, 30.0, 0.01]
    model: Any = {
        "dbscan": coterie.DBSCAN(0.4, metric=metric),
        "hdbscan": coterie.HDBSCAN(10, metric=metric),
        "agglomerative": coterie.AgglomerativeClustering(4, metric=metric, linkage="single"),
    }[method].fit(X)
    if kind == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        model.save(tmp_path / "model.coterie")
        again = coterie.load(tmp_path / "model.coterie")
    few = X[::9]  # of which variances would be others
    np.testing.assert_array_equal(again.predict(few), model.predict(few))
    np.testing.assert_array_equal(again.predict(few), model.labels_[::9])


@pytest.mark.parametrize("d", [2, 5])
def test_dbscan_under_mahalanobis_is_that_of_the_table(d: int) -> None:
    X = make_blobs(300, d, centers=4, random_state=1)[0] + 1e3
    table = pairwise(X, metric="mahalanobis")
    eps = float(np.quantile(table, 0.05)) * (1 + 1e-9)
    for border in ("first", "nearest"):
        found = coterie.DBSCAN(eps, metric="mahalanobis", border=border).fit(X)
        expected = coterie.DBSCAN(eps, metric="precomputed", border=border).fit(table)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_array_equal(found.predict(X), found.labels_)


def test_parameters_without_effect_are_named() -> None:
    X = blobs()
    with pytest.warns(AdviceWarning, match="p=3 was given, and metric='euclidean' takes none"):
        coterie.DBSCAN(1.0, p=3).fit(X)
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        coterie.DBSCAN(1.0, metric="minkowski", p=3, metric_params={"p": 4}).fit(X)
    with pytest.warns(AdviceWarning, match="metric_params={'V': 1} was given"):
        coterie.DBSCAN(1.0, metric="precomputed", metric_params={"V": 1}).fit(pairwise(X))
    with pytest.raises(TypeError, match=r"given q, which it does not take; .* are p, w"):
        coterie.DBSCAN(1.0, metric="minkowski", metric_params={"q": 4}).fit(X)
    with pytest.raises(TypeError, match="given p, which it does not take; it has no parameters"):
        coterie.HDBSCAN(metric="canberra", metric_params={"p": 4}).fit(X)


def test_damaged_parameters_of_a_metric_are_refused(tmp_path: Path) -> None:
    model = coterie.DBSCAN(0.4, metric="mahalanobis").fit(blobs())
    for broken in (-np.eye(3), np.eye(2), np.full((3, 3), np.nan)):
        model.metric_params_ = {"VI": broken, "center": np.zeros(3)}
        model.save(tmp_path / "model.coterie")
        with pytest.raises(coterie.errors.FileError, match="inconsistent"):
            coterie.load(tmp_path / "model.coterie")


@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")
def test_weights_whose_sum_is_no_number_are_enough() -> None:
    X = np.repeat([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]], 5, axis=0)
    for weights in (np.full(20, 1e308), np.full(20, 1e3)):
        model = coterie.DBSCAN(0.5, metric="manhattan").fit(X, sample_weight=weights)
        assert model.labels_.tolist() == [0] * 10 + [1] * 10
