"""HDBSCAN against its textbook twin, against scikit-learn's, and against itself.

Covers coterie.density._auto_size, coterie.density._centers, coterie.density._condense,
coterie.density._reach, coterie.density._select and coterie.density._stored.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import hdbscan_twin as twin
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import cluster as peers
from sklearn.cluster._hdbscan._tree import tree_to_labels
from sklearn.metrics import adjusted_rand_score

import coterie
from coterie import HDBSCAN, load
from coterie.density._condense import condense
from coterie.density._select import Selection, belong, select_clusters
from coterie.distance import pairwise
from coterie.errors import AdviceWarning, FileError
from coterie.neighbors import MergeTree

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")

METRICS = ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "sqeuclidean"]


def blobs(n: int = 300, d: int = 2, seed: int = 0) -> Any:
    """Six groups of different densities."""
    rng = np.random.default_rng(seed)
    group = rng.integers(6, size=n)
    spread = np.array([0.2, 0.4, 0.6, 0.8, 1.0, 1.5])[group, np.newaxis]
    return rng.normal(scale=5, size=(6, d))[group] + spread * rng.standard_normal((n, d))


def agrees(model: Any, found: twin.Found) -> None:
    assert model.labels_.tolist() == found.labels
    np.testing.assert_allclose(model.probabilities_, found.probabilities, atol=1e-12)
    np.testing.assert_allclose(model.outlier_scores_, found.outlier_scores, atol=1e-12)
    tree = model.condensed_tree_
    np.testing.assert_allclose(tree["row_lambda"], found.row_lambda)
    np.testing.assert_array_equal(tree["size"], [c.size for c in found.clusters])
    np.testing.assert_allclose(tree["birth"], [c.birth for c in found.clusters])
    np.testing.assert_allclose(tree["stability"], [c.stability for c in found.clusters])


@st.composite
def cases(draw: Any) -> tuple[Any, dict[str, Any]]:
    """Few rows full of ties and duplicates, and any parameters."""
    n = draw(st.integers(2, 32))
    d = draw(st.integers(1, 3))
    top = draw(st.sampled_from([1, 3, 12]))
    X = np.random.default_rng(draw(st.integers(0, 2**31))).integers(0, top + 1, size=(n, d))
    params = {
        "min_cluster_size": draw(st.integers(2, 7)),
        "min_samples": draw(st.integers(1, min(n, 5))),
        "cluster_selection_method": draw(st.sampled_from(["eom", "leaf"])),
        "cluster_selection_epsilon": draw(st.sampled_from([0.0, 1.0, 1.5, 3.0])),
        "max_cluster_size": draw(st.sampled_from([None, 3, 9])),
        "allow_single_cluster": draw(st.booleans()),
        "alpha": draw(st.sampled_from([1.0, 1.0, 2.0])),
    }
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), params


def twin_of(dists: Any, params: dict[str, Any]) -> twin.Found:
    return twin.hdbscan(
        dists,
        params["min_cluster_size"],
        params["min_samples"],
        alpha=params["alpha"],
        method=params["cluster_selection_method"],
        epsilon=params["cluster_selection_epsilon"],
        max_size=params["max_cluster_size"],
        single=params["allow_single_cluster"],
    )


@given(cases())
def test_ties_and_duplicates(case: tuple[Any, dict[str, Any]]) -> None:
    X, params = case
    dists = pairwise(X)
    found = twin_of(dists, params)
    model = HDBSCAN(**params).fit(X)
    agrees(model, found)
    agrees(HDBSCAN(metric="precomputed", **params).fit(dists), found)
    again = model.predict_membership(X)
    np.testing.assert_array_equal(again.labels, model.labels_)
    np.testing.assert_array_equal(again.probabilities, model.probabilities_)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics(metric: str) -> None:
    X = np.round(blobs(120, 4), 1 if metric == "hamming" else 8)
    params = {
        "min_cluster_size": 6, "min_samples": 4, "alpha": 1.0, "max_cluster_size": None,
        "cluster_selection_method": "eom", "cluster_selection_epsilon": 0.0,
        "allow_single_cluster": False,
    }  # fmt: skip
    agrees(HDBSCAN(metric=metric, **params).fit(X), twin_of(pairwise(X, metric=metric), params))


def test_a_function_and_parameters_of_metrics() -> None:
    X = blobs(60)
    by_name = HDBSCAN(metric="minkowski", metric_params={"p": 3}).fit(X)

    def cubes(x: Any, y: Any) -> float:
        return float((abs(x - y) ** 3).sum() ** (1 / 3))

    by_function = HDBSCAN(metric=cubes).fit(X)
    np.testing.assert_array_equal(by_function.labels_, by_name.labels_)
    queries = blobs(20, seed=1)
    found, expected = by_function.predict_membership(queries), by_name.predict_membership(queries)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.probabilities, expected.probabilities)
    with pytest.raises(TypeError, match="does not take"):
        HDBSCAN(metric_params={"q": 3}).fit(X)


def test_a_mixed_table() -> None:
    X = np.column_stack([blobs(80), np.random.default_rng(0).integers(0, 2, 80)])
    X[3, 1] = np.nan
    model = HDBSCAN(metric="gower").fit(X)
    np.testing.assert_array_equal(
        model.labels_, HDBSCAN(metric="precomputed").fit(pairwise(X, metric="gower")).labels_
    )
    np.testing.assert_array_equal(model.predict(X), model.labels_)


# Against scikit-learn.

COMBINATIONS = [
    {"min_cluster_size": size, "min_samples": k, "cluster_selection_method": method,
     "allow_single_cluster": single, "max_cluster_size": largest}
    for size in (2, 5, 12) for k in (1, 2, None, 7) for method in ("eom", "leaf")
    for single in (False, True) for largest in (None, 70)
]  # fmt: skip


@pytest.mark.parametrize("params", COMBINATIONS[::2])
def test_without_ties_as_scikit_learn(params: dict[str, Any]) -> None:
    for seed, d in enumerate((1, 2, 3, 6)):
        X = blobs(250, d, seed)
        peer, ours = peers.HDBSCAN(copy=True, **params).fit(X), HDBSCAN(**params).fit(X)
        table = peer._single_linkage_tree_
        np.testing.assert_allclose(ours.spanning_tree_["lengths"], table["value"], rtol=1e-12)
        # To the third neighbour and farther several rows are equally reachable: a tie.
        if (params["min_samples"] or params["min_cluster_size"]) <= 2:
            np.testing.assert_array_equal(ours.labels_, peer.labels_)
            np.testing.assert_allclose(ours.probabilities_, peer.probabilities_, atol=1e-10)


@pytest.mark.parametrize("params", COMBINATIONS)
def test_from_scikit_learns_merges_follow_its_labels(params: dict[str, Any]) -> None:
    method, largest = params["cluster_selection_method"], params["max_cluster_size"]
    size, single = params["min_cluster_size"], params["allow_single_cluster"]
    for seed in range(3):
        X = blobs(200, 2, seed) if seed else np.round(blobs(200), 1)
        table = peers.HDBSCAN(copy=True, **params).fit(X)._single_linkage_tree_
        table["value"] += 1e-9 * np.arange(1, len(table) + 1)  # without ties
        labels, probabilities = tree_to_labels(table, size, method, single, 0.0, largest)
        merges = MergeTree(
            table["left_node"].astype(np.int32), table["right_node"].astype(np.int32),
            np.ascontiguousarray(table["value"]), table["cluster_size"].astype(np.int32),
        )  # fmt: skip
        tree = condense(merges, size)
        rule = Selection(method, largest, 0.0, single)
        members = belong(tree, select_clusters(tree, rule), tree.row_cluster, tree.row_lambda)
        np.testing.assert_array_equal(members.labels, labels)
        np.testing.assert_allclose(members.probabilities, probabilities, atol=1e-10)


def test_larger_data_as_scikit_learn() -> None:
    X = blobs(4000, 3)
    peer, ours = peers.HDBSCAN(25, copy=True).fit(X), HDBSCAN(25).fit(X)
    assert (peer.labels_ == ours.labels_).mean() > 0.998
    assert adjusted_rand_score(peer.labels_, ours.labels_) > 0.998


def test_centers_as_scikit_learn() -> None:
    X = blobs(250, 3)
    for metric in ("euclidean", "manhattan"):
        kwargs = {"min_cluster_size": 8, "min_samples": 2, "metric": metric}
        peer = peers.HDBSCAN(store_centers="both", copy=True, **kwargs).fit(X)
        ours = HDBSCAN(store_centers="both", **kwargs).fit(X)
        np.testing.assert_allclose(ours.centroids_, peer.centroids_)
        np.testing.assert_array_equal(ours.medoids_, peer.medoids_)
    assert not hasattr(HDBSCAN(store_centers="centroid").fit(X), "medoids_")
    with pytest.raises(ValueError, match="no centres under"):
        HDBSCAN(metric="precomputed", store_centers="both").fit(pairwise(X))


def test_rows_that_are_not_finite_as_scikit_learn() -> None:
    X = blobs(200)
    X[3, 0], X[50, 1], X[51] = np.inf, np.nan, [np.nan, np.inf]
    peer = peers.HDBSCAN(min_samples=2, copy=True).fit(X)
    ours = HDBSCAN(min_samples=2).fit(X)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    np.testing.assert_allclose(ours.probabilities_, peer.probabilities_, atol=1e-10)
    assert ours.labels_[[3, 50, 51]].tolist() == [-2, -3, -3]
    assert ours.outlier_scores_[3] == 1
    assert np.isnan(ours.outlier_scores_[50])
    assert [event["what"] for event in ours.events_] == ["rows left out"]
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    np.testing.assert_array_equal(ours.predict_membership(X).probabilities, ours.probabilities_)
    cut = ours.dbscan_clustering(0.5)
    assert cut[[3, 50, 51]].tolist() == [-2, -3, -3]
    assert adjusted_rand_score(cut, peer.dbscan_clustering(0.5)) == 1


@pytest.mark.parametrize("cut", [0.0, 0.2, 0.5, 1.0, 100.0])
def test_cuts_as_scikit_learn(cut: float) -> None:
    X = blobs()
    peer, ours = peers.HDBSCAN(min_samples=4, copy=True).fit(X), HDBSCAN(min_samples=4).fit(X)
    for size in (1, 5):
        expected, found = peer.dbscan_clustering(cut, size), ours.dbscan_clustering(cut, size)
        assert adjusted_rand_score(expected, found) == 1
        np.testing.assert_array_equal(found < 0, expected < 0)
        _, first = np.unique(found[found >= 0], return_index=True)
        assert (np.diff(first) > 0).all()


# Distances as they are given.


def test_a_sparse_table_of_all_distances_gives_what_the_dense_one_gives() -> None:
    X = np.round(blobs(90), 1)
    dists = pairwise(X)
    dense = HDBSCAN(min_samples=3, metric="precomputed").fit(dists)
    stored = sp.csr_matrix(
        (dists.ravel(), np.tile(np.arange(90), 90), np.arange(0, 8101, 90)), shape=(90, 90)
    )
    sparse = HDBSCAN(min_samples=3, metric="precomputed").fit(stored)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    for name in ("heads", "tails", "lengths"):
        np.testing.assert_array_equal(sparse.spanning_tree_[name], dense.spanning_tree_[name])


def test_tables_that_are_none() -> None:
    dists = pairwise(blobs(30))
    model = HDBSCAN(metric="precomputed")
    with pytest.raises(ValueError, match="square"):
        model.fit(dists[:20])
    with pytest.raises(ValueError, match="symmetric"):
        model.fit(np.triu(dists))
    with pytest.raises(ValueError, match="symmetric"):
        model.fit(sp.csr_matrix(np.triu(dists)))
    with pytest.raises(ValueError, match="Negative"):
        model.fit(-dists)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(dists + np.diag([np.nan] * 30))
    with pytest.raises(ValueError, match="stores distances to 0 other rows"):
        model.fit(sp.csr_matrix((30, 30)))
    halves = np.kron(np.eye(2), dists)
    with pytest.raises(ValueError, match="2 separate groups"):
        model.fit(sp.csr_matrix(halves))
    with pytest.raises(ValueError, match="takes none"):
        HDBSCAN(metric="precomputed", metric_params={"p": 1}).fit(dists)
    with pytest.raises(ValueError, match="30 rows"):
        model.fit(dists).predict(dists[:, :5])


def test_unknown_distances_are_far() -> None:
    dists = np.full((60, 60), np.inf)
    dists[:30, :30] = pairwise(blobs(30))
    dists[30:, 30:] = pairwise(blobs(30, seed=1))
    labels = HDBSCAN(20, metric="precomputed", min_samples=3).fit(dists).labels_
    assert set(labels) <= {-1, 0, 1}
    assert not set(labels[:30]) & set(labels[30:]) - {-1}


# New rows.


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "hamming"])
@pytest.mark.parametrize("n", [90, 500])
def test_new_rows_join_the_row_they_reach_first(metric: str, n: int) -> None:
    X = np.round(blobs(n, 3), 1)
    queries = np.round(np.vstack([blobs(40, 3, seed=0) + 0.1, blobs(40, 3, seed=5), X[:20]]), 1)
    for alpha in (1.0, 1.5):
        model = HDBSCAN(5, 4, metric=metric, alpha=alpha).fit(X)
        by_table = HDBSCAN(5, 4, metric="precomputed", alpha=alpha).fit(pairwise(X, metric=metric))
        found = model.predict_membership(queries)
        expected = by_table.predict_membership(pairwise(queries, X, metric=metric))
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        np.testing.assert_array_equal(model.predict(queries), found.labels)


def test_the_farther_a_row_the_less_it_belongs() -> None:
    X = np.vstack([np.random.default_rng(0).normal(c, 1, (100, 2)) for c in (0, 20)])
    model = HDBSCAN(10).fit(X)
    members = model.predict_membership([[0.0, 0.0], [20.0, 20.0], [-6.0, -6.0], [1000.0, 0.0]])
    assert members.labels.tolist() == [0, 1, 0, -1]
    inner, _, outer, far = members.probabilities
    assert 1 >= inner > 0.5 > outer > far == 0


# Against itself.


def test_same_bits_for_any_number_of_threads() -> None:
    X = np.round(blobs(9000), 2)
    alone = HDBSCAN(10, n_threads=1).fit(X)
    for n_threads in (2, 3, 4):
        other = HDBSCAN(10, n_threads=n_threads).fit(X)
        np.testing.assert_array_equal(other.labels_, alone.labels_)
        np.testing.assert_array_equal(other.probabilities_, alone.probabilities_)
        np.testing.assert_array_equal(other.outlier_scores_, alone.outlier_scores_)
        np.testing.assert_array_equal(other.predict(X[:99] + 0.01), alone.predict(X[:99] + 0.01))
    np.testing.assert_array_equal(HDBSCAN(10, n_jobs=-1).fit(X).labels_, alone.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_build_reaches_the_same_rows(isa_kernels: Any, dtype: Any) -> None:
    X, queries = (
        np.round(blobs(400, 3), 1).astype(dtype),
        np.round(blobs(70, 3, 1), 1).astype(dtype),
    )
    cores, query_cores = np.full(400, 0.3), np.linspace(0, 3, 70)
    reach = np.maximum(np.maximum(pairwise(queries, X), query_cores[:, np.newaxis]), cores)
    for by_tree in (True, False):
        row_ids, lengths = np.empty(70, dtype=np.int64), np.empty(70)
        index = isa_kernels.Index(X, ("euclidean", 2.0, None, None), by_tree, 2)
        index.nearest_reachable(queries, cores, query_cores, 1.0, row_ids, lengths, 2)
        np.testing.assert_array_equal(lengths, reach.min(axis=1))
        for q, row in enumerate(row_ids):
            order = np.lexsort((np.arange(400), pairwise(queries, X)[q], reach[q]))
            assert row == order[0]


def test_files(tmp_path: Path) -> None:
    X = blobs()
    X[5, 1] = np.nan
    model = HDBSCAN(store_centers="both").fit(X)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.dbscan_clustering(0.5), model.dbscan_clustering(0.5))
    np.testing.assert_array_equal(again.centroids_, model.centroids_)
    assert again.events_ == model.events_
    tree = model.condensed_tree_
    for name, value in [
        ("row_cluster", tree["row_cluster"] + 1000), ("parent", tree["parent"][::-1].copy()),
        ("label", tree["label"][:-1]), ("row_lambda", tree["row_lambda"].astype(np.int32)),
    ]:  # fmt: skip
        model.condensed_tree_ = {**tree, name: value}
        model.save(tmp_path / "damaged")
        with pytest.raises(FileError):
            load(tmp_path / "damaged")


def test_sparse_rows_and_other_inputs() -> None:
    X = np.where(np.abs(blobs()) < 1, 0, blobs())
    labels = HDBSCAN().fit(X).labels_
    np.testing.assert_array_equal(HDBSCAN().fit(sp.csr_matrix(X)).labels_, labels)
    np.testing.assert_array_equal(HDBSCAN().fit(np.asfortranarray(X)).labels_, labels)
    np.testing.assert_array_equal(HDBSCAN().fit_predict(X), labels)
    before = X.copy()
    X.flags.writeable = False
    HDBSCAN().fit(X)
    np.testing.assert_array_equal(X, before)


def test_too_few_rows() -> None:
    with pytest.raises(ValueError, match="n_samples=1"):
        HDBSCAN().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="min_samples=5 must be at most"):
        HDBSCAN().fit(np.arange(8.0).reshape(4, 2))
    with pytest.raises(ValueError, match="n_samples=0"):
        HDBSCAN().fit(np.full((9, 2), np.inf))
    assert HDBSCAN(50, min_samples=1).fit(np.eye(2)).labels_.tolist() == [-1, -1]


def test_equal_rows() -> None:
    same = HDBSCAN().fit(np.ones((20, 2)))
    assert np.isfinite(same.probabilities_).all()
    assert np.isfinite(same.outlier_scores_).all()
    heap = np.vstack([np.zeros((30, 2)), np.ones((30, 2)), [[9.0, 9.0]]])
    model = HDBSCAN().fit(heap)
    assert model.labels_.tolist() == [0] * 30 + [1] * 30 + [-1]
    assert model.probabilities_[:60].min() == 1


@pytest.mark.filterwarnings("default::coterie.errors.AdviceWarning")
def test_advice() -> None:
    X = np.random.default_rng(0).random((60, 2))
    with pytest.warns(AdviceWarning, match="all are noise"):
        model = HDBSCAN(40).fit(X)
    assert [event["what"] for event in model.events_] == ["everything noise"]
    X = np.vstack([np.zeros((500, 1)), [[3.0], [3.1]]])
    with pytest.warns(AdviceWarning, match="one cluster holds 500 of 502"):
        model = HDBSCAN(2).fit(X)
    assert [event["what"] for event in model.events_] == ["one giant cluster"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert HDBSCAN(10).fit(blobs()).events_ == []


def test_history_names_the_stages() -> None:
    stages = HDBSCAN().fit(blobs()).history_
    assert [set(entry) for entry in stages] == [{"stage", "seconds"}] * 3
    assert stages[0]["stage"] == "mutual reachability tree"


@pytest.mark.parametrize("n_groups", [2, 3, 7])
def test_a_size_is_chosen_that_finds_the_groups(n_groups: int) -> None:
    rng = np.random.default_rng(n_groups)
    group = np.repeat(np.arange(n_groups), 150)
    X = 12 * np.column_stack([group % 3, group // 3]) + rng.standard_normal((group.size, 2))
    model = HDBSCAN("auto").fit(X)
    assert model.labels_.max() + 1 == n_groups
    assert adjusted_rand_score(model.labels_, group) > 0.9
    assert HDBSCAN(model.min_cluster_size_, 5).fit(X).labels_.tolist() == model.labels_.tolist()
    assert HDBSCAN("auto").fit(rng.random((12, 2))).min_cluster_size_ == 5


def test_many_rows_are_fine() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(scale=9, size=(9, 2))[rng.integers(9, size=200_000)]
    X = X + 0.5 * rng.standard_normal(X.shape)
    labels = HDBSCAN(500, min_samples=10).fit(X).labels_
    assert labels.max() >= 5


def test_it_is_public() -> None:
    assert coterie.HDBSCAN is HDBSCAN


def test_core_distances_beyond_all_numbers_with_alpha() -> None:
    X = np.repeat([[0.0], [1.0], [1.2], [1.7]], 4, axis=0) + np.arange(16)[:, np.newaxis] * 1e-3
    usual = coterie.HDBSCAN(3, alpha=3.0, min_samples=6).fit(X)
    huge = coterie.HDBSCAN(3, alpha=3.0, min_samples=6).fit(X * 2.0**1023)
    np.testing.assert_array_equal(huge.labels_, usual.labels_)


def test_distances_over_a_small_alpha_and_centers_of_huge_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.choice([-0.95, 0.0, 0.95], (60, 2)) + rng.uniform(0, 0.01, (60, 2))
    huge = HDBSCAN(5, alpha=0.5, store_centers="both", min_samples=3).fit(X * 2.0**1023)
    assert np.isfinite(huge.centroids_).all()
    assert np.isfinite(huge.medoids_).all()
    usual = HDBSCAN(5, alpha=0.5, store_centers="both", min_samples=3).fit(X)
    np.testing.assert_array_equal(huge.labels_, usual.labels_)
    np.testing.assert_array_equal(huge.centroids_ / 2.0**1023, usual.centroids_)


def test_scikit_learns_defaults_are_taken() -> None:
    theirs = peers.HDBSCAN().get_params()
    assert HDBSCAN(**theirs).fit(np.random.default_rng(0).normal(size=(60, 2))).labels_.size == 60
