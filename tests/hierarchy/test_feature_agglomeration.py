"""Clusters of columns: scikit-learn's labels, and what becomes of the columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
from sklearn.pipeline import make_pipeline

import coterie
from coterie.hierarchy import METHODS


def rows() -> Any:
    rng = np.random.default_rng(0)
    return np.repeat(rng.normal(size=(40, 4)), 3, axis=1) + 0.1 * rng.normal(size=(40, 12))


@pytest.mark.parametrize("method", ["ward", "complete", "average", "single"])
@pytest.mark.parametrize("pooling", [np.mean, np.median, np.max])
def test_as_in_scikit_learn(method: str, pooling: Any) -> None:
    X = rows()
    mine = coterie.FeatureAgglomeration(4, linkage=method, pooling_func=pooling).fit(X)
    theirs = sklearn.cluster.FeatureAgglomeration(4, linkage=method, pooling_func=pooling).fit(X)
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X))
    pooled = mine.transform(X)
    np.testing.assert_allclose(mine.inverse_transform(pooled), theirs.inverse_transform(pooled))
    assert (mine.n_clusters_, mine.n_leaves_, mine.n_features_in_) == (4, 12, 12)


@pytest.mark.parametrize("method", METHODS)
def test_columns_are_clustered_as_rows_are(method: str) -> None:
    X = rows()
    model = coterie.FeatureAgglomeration(5, linkage=method).fit(X)
    expected = coterie.AgglomerativeClustering(5, linkage=method).fit(X.T)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.Z_, expected.Z_)


def test_names_files_pipelines_and_thresholds(tmp_path: Path) -> None:
    frame = pd.DataFrame(rows(), columns=[f"c{i}" for i in range(12)])
    model = coterie.FeatureAgglomeration(n_clusters=None, distance_threshold=3.0).fit(frame)
    assert model.n_clusters_ == 4
    names = [f"featureagglomeration{i}" for i in range(4)]
    assert list(model.get_feature_names_out()) == names
    assert list(model.set_output(transform="pandas").transform(frame).columns) == names
    model.set_output(transform="default").save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    steps = make_pipeline(coterie.FeatureAgglomeration(4), coterie.KMeans(3, random_state=0))
    assert steps.fit_predict(frame.to_numpy()).shape == (40,)


def test_a_stored_function_has_to_be_set_again(tmp_path: Path) -> None:
    X = rows()
    coterie.FeatureAgglomeration(4, pooling_func=np.ptp).fit(X).save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    with pytest.raises(ValueError, match=r"^FeatureAgglomeration: pooling_func=.*set_params"):
        again.transform(X)
    assert again.set_params(pooling_func=np.ptp).transform(X).shape == (40, 4)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"n_clusters=13 but X has 12 columns; lower n_clusters"):
        coterie.FeatureAgglomeration(13).fit(rows())
    model = coterie.FeatureAgglomeration(4).fit(rows())
    with pytest.raises(ValueError, match=r"X has 3 columns and the model has 4 clusters; pass"):
        model.inverse_transform(np.ones((2, 3)))
