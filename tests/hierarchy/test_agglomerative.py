"""AgglomerativeClustering: scikit-learn's labels, and what it does beyond.

Covers coterie.hierarchy._connectivity, coterie.hierarchy._cut and coterie.hierarchy._stored.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering as Theirs
from sklearn.neighbors import kneighbors_graph

import coterie
from coterie import AgglomerativeClustering
from coterie.distance import pairwise
from coterie.hierarchy import METHODS

SHARED = ["ward", "complete", "average", "single"]


def rows(n: int = 120, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def assert_same(mine: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    np.testing.assert_array_equal(mine.children_, theirs.children_)
    np.testing.assert_allclose(mine.distances_, theirs.distances_, rtol=1e-7)
    for name in ("n_clusters_", "n_leaves_", "n_connected_components_", "n_features_in_"):
        assert getattr(mine, name) == getattr(theirs, name)
    assert mine.labels_.dtype == theirs.labels_.dtype


@pytest.mark.parametrize("linkage", SHARED)
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 33, 120])
def test_scikit_learns_labels(linkage: str, n_clusters: int) -> None:
    X = rows()
    theirs = Theirs(n_clusters, linkage=linkage, compute_distances=True).fit(X)
    assert_same(AgglomerativeClustering(n_clusters, linkage=linkage).fit(X), theirs)


@pytest.mark.parametrize("metric", ["l1", "manhattan", "cosine", "precomputed"])
@pytest.mark.parametrize("linkage", SHARED[1:])
def test_scikit_learns_labels_under_other_metrics(linkage: str, metric: str) -> None:
    X = squareform(pdist(rows())) if metric == "precomputed" else rows()
    settings: dict[str, Any] = {"linkage": linkage, "metric": metric}
    theirs = Theirs(7, compute_distances=True, **settings).fit(X)
    assert_same(AgglomerativeClustering(7, **settings).fit(X), theirs)


@pytest.mark.parametrize("linkage", SHARED)
def test_scikit_learns_threshold(linkage: str) -> None:
    X = rows()
    heights = AgglomerativeClustering(linkage=linkage).fit(X).distances_
    for threshold in (0.0, float(heights[60]), float(heights[-2]), 1e9):
        settings: dict[str, Any] = {"distance_threshold": threshold, "linkage": linkage}
        if threshold == heights[60] or threshold == heights[-2]:
            settings["distance_threshold"] = threshold * (1 + 1e-9)
        theirs = Theirs(None, **settings).fit(X)
        mine = AgglomerativeClustering(None, **settings).fit(X)
        assert_same(mine, theirs)
        again = mine.cut(height=settings["distance_threshold"])
        np.testing.assert_array_equal(again, mine.labels_)


@pytest.mark.parametrize("linkage", SHARED)
@pytest.mark.parametrize("n_neighbors", [1, 4, 30])
@pytest.mark.parametrize("n_clusters", [3, 110])
@pytest.mark.parametrize("full", ["auto", True, False])
@pytest.mark.filterwarnings("ignore:.*connected components")
def test_scikit_learns_connectivity(
    linkage: str, n_neighbors: int, n_clusters: int, full: Any
) -> None:
    X = rows()
    graph = kneighbors_graph(X, n_neighbors, include_self=False)
    settings: dict[str, Any] = {"linkage": linkage, "compute_full_tree": full}
    theirs = Theirs(n_clusters, connectivity=graph, compute_distances=True, **settings).fit(X)
    mine = AgglomerativeClustering(n_clusters, connectivity=graph, **settings).fit(X)
    if linkage != "single":  # for which the order of the parts decides the labels
        theirs.children_ = np.sort(theirs.children_, axis=1)
    assert_same(mine, theirs)
    assert hierarchy.is_valid_linkage(mine.Z_)
    assert len(mine.Z_) == len(X) - 1


@pytest.mark.parametrize("n_clusters", [2, 17, 110])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_scikit_learns_single_linkage_along_a_graph_full_of_ties(
    n_clusters: int, metric: str
) -> None:
    X = np.random.default_rng(1).integers(0, 5, size=(150, 2)).astype(float)
    graph = kneighbors_graph(X, 30, include_self=False)
    settings: dict[str, Any] = {"linkage": "single", "metric": metric, "connectivity": graph}
    if metric == "precomputed":
        X = squareform(pdist(X))
    theirs = Theirs(n_clusters, compute_distances=True, **settings).fit(X)
    assert_same(AgglomerativeClustering(n_clusters, **settings).fit(X), theirs)


def test_pieces_are_joined_with_a_warning() -> None:
    X = np.array([[0.0], [1], [10], [11]])
    graph = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    with pytest.warns(UserWarning, match="components of the connectivity matrix is 2 > 1"):
        model = AgglomerativeClustering(2, connectivity=graph, linkage="single").fit(X)
    assert model.n_connected_components_ == 2
    np.testing.assert_array_equal(model.distances_, [1, 1, 9])
    with pytest.raises(ValueError, match="Wrong shape for connectivity"):
        AgglomerativeClustering(2, connectivity=graph[:3, :3]).fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_connecting_all_is_connecting_none(method: str) -> None:
    X = rows(40)
    everyone = np.ones((40, 40))
    expected = coterie.linkage(X, method)
    Z = coterie.linkage(X, method, connectivity=everyone)
    np.testing.assert_allclose(Z, expected)


def test_connectivity_as_a_function_and_on_distances() -> None:
    X = rows(60)
    graph = kneighbors_graph(X, 10, include_self=False)
    table = squareform(pdist(X))
    on_rows = AgglomerativeClustering(4, linkage="average", connectivity=graph).fit(X)
    called = AgglomerativeClustering(4, linkage="average", connectivity=lambda X: graph).fit(X)
    on_table = AgglomerativeClustering(
        4, linkage="average", connectivity=graph, metric="precomputed"
    ).fit(table)
    np.testing.assert_array_equal(called.labels_, on_rows.labels_)
    np.testing.assert_array_equal(on_table.labels_, on_rows.labels_)


def cluster_distance(model: Any, x: Any, rows: Any, linkage: str) -> list[float]:
    """The distance of a row to every cluster, by joining it to the table of distances."""
    if linkage in ("weighted", "median"):
        return []
    found = []
    for label in range(model.n_clusters_):
        own = rows[model.labels_ == label]
        lengths = np.sqrt(np.square(own - x).sum(axis=1))
        to_mean = np.sqrt(np.square(own.mean(axis=0) - x).sum())
        found.append(
            {
                "single": lengths.min(),
                "genie": lengths.min(),
                "complete": lengths.max(),
                "average": lengths.mean(),
                "centroid": to_mean,
                "ward": to_mean * np.sqrt(2 * len(own) / (len(own) + 1)),
            }[linkage]
        )
    return found


@pytest.mark.parametrize("linkage", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predict_is_the_nearest_cluster_of_the_linkage(linkage: str, dtype: Any) -> None:
    X, new = rows().astype(dtype), rows(50, seed=1).astype(dtype)
    model = AgglomerativeClustering(5, linkage=linkage).fit(X)
    labels = model.predict(new)
    assert labels.dtype == np.int64
    for x, label in zip(new.astype(float), labels, strict=True):
        dists = cluster_distance(model, x, X.astype(float), linkage)
        if dists:
            assert dists[label] <= min(dists) * (1 + 1e-12)


@pytest.mark.parametrize("linkage", ["weighted", "median"])
def test_predict_where_parts_weigh_the_same(linkage: str) -> None:
    # {0, 1} joins first, then 3: to 10 their shares are 1/4, 1/4, 1/2.
    X = np.array([[0.0], [1], [3], [20], [21]])
    model = AgglomerativeClustering(2, linkage=linkage).fit(X)
    share = np.array([0.25, 0.25, 0.5])
    middle = float(share @ [0, 1, 3])
    border = (middle + 20.5) / 2
    labels = model.predict([[border - 1e-6], [border + 1e-6]])
    np.testing.assert_array_equal(labels, model.labels_[[0, 3]])


def test_predict_from_distances() -> None:
    X, new = rows(), rows(30, seed=1)
    for linkage in ("single", "complete", "average", "weighted"):
        by_rows = AgglomerativeClustering(4, linkage=linkage).fit(X)
        by_table = AgglomerativeClustering(4, linkage=linkage, metric="precomputed")
        by_table.fit(pairwise(X))
        np.testing.assert_array_equal(by_table.predict(pairwise(new, X)), by_rows.predict(new))


def test_cuts_without_another_fit() -> None:
    X = rows()
    model = AgglomerativeClustering(3).fit(X)
    for n_clusters in (1, 2, 9, 120):
        expected = Theirs(n_clusters).fit(X).labels_
        np.testing.assert_array_equal(model.cut(n_clusters), expected)
        np.testing.assert_array_equal(model.cut(n_clusters=n_clusters), expected)
    assert model.n_clusters_ == 3
    for bad in ({}, {"n_clusters": 2, "height": 1.0}):
        with pytest.raises(ValueError, match="use one of them"):
            model.cut(**bad)
    with pytest.raises(ValueError, match="from 1 to the 120 rows"):
        model.cut(121)
    for height in ("2", np.nan):
        with pytest.raises(ValueError, match=r"height=.* was given; use a number"):
            model.cut(height=height)
    assert set(model.cut(height=np.inf)) == {0}


def test_scipys_functions_by_name() -> None:
    X = rows()
    model = AgglomerativeClustering(3, linkage="average").fit(X)
    Z = hierarchy.linkage(X, "average")
    correlation, lengths = hierarchy.cophenet(Z, pdist(X))
    np.testing.assert_allclose(model.cophenetic_distances(), lengths)
    assert model.cophenetic_correlation(X) == pytest.approx(correlation)
    np.testing.assert_allclose(model.inconsistency(3), hierarchy.inconsistent(Z, 3), atol=1e-6)
    expected = hierarchy.fcluster(Z, 1.1, "inconsistent", depth=3) - 1
    np.testing.assert_array_equal(model.cut_inconsistent(1.1, depth=3), expected)
    with pytest.raises(ValueError, match="fitted on 120"):
        model.cophenetic_correlation(X[:50])


def test_parameters_that_contradict_each_other() -> None:
    X = rows(10)
    for settings in ({"n_clusters": None}, {"distance_threshold": 1.0}):
        with pytest.raises(ValueError, match="Exactly one of n_clusters and distance_threshold"):
            AgglomerativeClustering(**settings).fit(X)
    with pytest.raises(ValueError, match="compute_full_tree must be True"):
        AgglomerativeClustering(None, distance_threshold=1.0, compute_full_tree=False).fit(X)
    with pytest.raises(ValueError, match=r"manhattan was provided as metric\. Ward"):
        AgglomerativeClustering(metric="manhattan").fit(X)
    with pytest.raises(ValueError, match="n_samples=10 should be >= n_clusters=11"):
        AgglomerativeClustering(11).fit(X)


def test_feature_names_and_files(tmp_path: Path) -> None:
    frame = pd.DataFrame(rows(), columns=["a", "b", "c"])
    for linkage in METHODS:
        model = AgglomerativeClustering(4, linkage=linkage).fit(frame)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        with warnings.catch_warnings(), pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["b", "a", "c"]])
        path = tmp_path / f"{linkage}.coterie"
        model.save(path)
        thawed = coterie.load(path)
        np.testing.assert_array_equal(thawed.predict(frame), model.predict(frame))
        np.testing.assert_array_equal(thawed.cut(7), model.cut(7))


@pytest.mark.parametrize("linkage", ["ward", "average", "single", "median"])
def test_a_model_is_cut_again_as_if_it_had_been_fitted_so(linkage):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = AgglomerativeClustering(3, linkage=linkage).fit(X)
    again, fitted = model.recut(X, 6), AgglomerativeClustering(6, linkage=linkage).fit(X)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.predict(X + 0.1), fitted.predict(X + 0.1))
    assert again.get_params() == fitted.get_params()
    assert model.n_clusters == model.n_clusters_ == 3
    assert model.labels_.max() == 2
    with pytest.raises(ValueError, match="fitted on 40; pass those"):
        model.recut(X[:10], 2)
