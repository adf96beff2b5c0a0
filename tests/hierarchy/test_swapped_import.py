"""What `memory=` and a callable `metric=` mean to a user who comes from scikit-learn.

Covers coterie.hierarchy._table_function.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn.cluster
from scipy.spatial.distance import cityblock
from sklearn.metrics.pairwise import cosine_distances, manhattan_distances

import coterie
from coterie import AgglomerativeClustering, FeatureAgglomeration

X = np.random.default_rng(0).normal(size=(40, 6)) + 3


def refuse(*args: Any, **options: Any) -> Any:
    raise AssertionError("the tree was built again")


@pytest.mark.parametrize("as_object", [True, False])
@pytest.mark.parametrize("model", [AgglomerativeClustering, FeatureAgglomeration])
def test_memory_keeps_the_tree(
    model: Any, as_object: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = joblib.Memory(tmp_path, verbose=0) if as_object else str(tmp_path)
    settings = {"memory": memory, "linkage": "single", "metric": "manhattan"}
    expected = model(4, linkage="single", metric="manhattan").fit(X)
    model(2, **settings).fit(X)
    with monkeypatch.context() as patched:
        patched.setattr("coterie.hierarchy.agglomerative.link", refuse)
        found = model(4, n_threads=1, **settings).fit(X)
        with pytest.raises(AssertionError, match="built again"):
            model(4, **settings).fit(X + 1)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.children_, expected.children_)
    np.testing.assert_array_equal(found.Z_, expected.Z_)


def test_memory_under_every_kind_of_metric(tmp_path: Path) -> None:
    grid = np.eye(40, k=1) + np.eye(40, k=-1)
    for settings in (
        {"metric": "gower", "linkage": "average"},
        {"metric": cityblock, "linkage": "complete"},
        {"metric": manhattan_distances, "linkage": "complete"},
        {"metric": "minkowski", "metric_params": {"p": 3}, "linkage": "average"},
        {"connectivity": grid, "linkage": "ward"},
        {"compress": 10, "random_state": 0},
        {"linkage": "genie", "gini_threshold": 0.1},
        {"linkage": "genie", "gini_threshold": 0.5},
    ):
        expected = AgglomerativeClustering(3, **settings).fit(X)
        for _ in range(2):
            found = AgglomerativeClustering(3, memory=str(tmp_path), **settings).fit(X)
            np.testing.assert_array_equal(found.Z_, expected.Z_)
            np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
@pytest.mark.parametrize("metric", [manhattan_distances, cosine_distances])
def test_a_function_of_a_table_is_called_once_with_it(metric: Any, linkage: str) -> None:
    ours = AgglomerativeClustering(4, metric=metric, linkage=linkage, compute_distances=True)
    theirs = sklearn.cluster.AgglomerativeClustering(**{
        name: value for name, value in ours.get_params().items()
        if name
        not in ("compress", "random_state", "metric_params", "n_threads", "gini_threshold")
    })  # fmt: skip
    np.testing.assert_array_equal(ours.fit(X).labels_, theirs.fit(X).labels_)
    np.testing.assert_allclose(ours.distances_, theirs.distances_)


def test_a_function_of_a_table_for_columns() -> None:
    settings: dict[str, Any] = {"metric": manhattan_distances, "linkage": "average"}
    ours = FeatureAgglomeration(3, **settings).fit(X)
    theirs = sklearn.cluster.FeatureAgglomeration(3, **settings).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("linkage", ["complete", "average", "single", "weighted"])
def test_a_function_of_two_tables_predicts_as_its_name_does(linkage: str) -> None:
    by_name = AgglomerativeClustering(3, metric="manhattan", linkage=linkage).fit(X)
    by_table = AgglomerativeClustering(3, metric=manhattan_distances, linkage=linkage).fit(X)
    by_rows = AgglomerativeClustering(3, metric=cityblock, linkage=linkage).fit(X)
    new = X[:12] + 0.3
    np.testing.assert_array_equal(by_table.labels_, by_name.labels_)
    np.testing.assert_array_equal(by_rows.labels_, by_name.labels_)
    np.testing.assert_array_equal(by_table.predict(new), by_name.predict(new))
    assert by_table.cophenetic_correlation(X) == pytest.approx(by_name.cophenetic_correlation(X))


def test_a_function_of_one_table_cannot_predict() -> None:
    model = AgglomerativeClustering(3, metric=lambda rows: manhattan_distances(rows))
    model.set_params(linkage="average").fit(X)
    with pytest.raises(ValueError, match=r"one table.*give it a second argument Y"):
        model.predict(X[:3])
    assert np.isfinite(model.cophenetic_correlation(X))


def test_a_function_of_a_table_must_give_all_pairs() -> None:
    with pytest.raises(ValueError, match=r"AgglomerativeClustering.*\(40,\)"):
        AgglomerativeClustering(3, metric=lambda rows: rows[:, 0], linkage="average").fit(X)


def test_with_connections_the_function_is_of_two_rows() -> None:
    graph = np.eye(40, k=1) + np.eye(40, k=-1)
    settings: dict[str, Any] = {"linkage": "average", "connectivity": graph}
    ours = AgglomerativeClustering(4, metric=lambda a, b=None: abs(a - b).sum(), **settings)
    theirs = sklearn.cluster.AgglomerativeClustering(4, metric="manhattan", **settings)
    np.testing.assert_array_equal(ours.fit(X).labels_, theirs.fit(X).labels_)
    assert coterie.linkage(X, "average", cityblock, connectivity=graph).shape == (39, 4)


def test_advice_about_a_table_of_distances_points_to_the_caller() -> None:
    with pytest.warns(coterie.errors.AdviceWarning, match="precomputed") as caught:
        AgglomerativeClustering(3).fit(manhattan_distances(X))
    assert {warning.filename for warning in caught} == {__file__}
