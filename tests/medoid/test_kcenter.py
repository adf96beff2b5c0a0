"""KCenter, the estimator. Covers coterie.medoid._row_centers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import KCenter
from coterie.distance import pairwise
from coterie.errors import FileError
from streams import Stream

X = np.random.default_rng(0).standard_normal((120, 3))


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("euclidean", None),
        ("mahalanobis", None),
        ("seuclidean", None),
        ("minkowski", {"p": 3}),
        ("cosine", None),
    ],
)
def test_what_is_published_agrees(metric: str, params: Any, tmp_path: Path) -> None:
    model = KCenter(5, metric=metric, metric_params=params, start=2).fit(X)
    assert model.center_indices_[0] == 2
    np.testing.assert_array_equal(model.cluster_centers_, X[model.center_indices_])
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    lengths = model.transform(X)
    np.testing.assert_array_equal(lengths.argmin(axis=1), model.labels_)
    assert lengths.min(axis=1).max() == pytest.approx(model.radius_)
    assert model.radius_ == model.radii_[-1]
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.transform(X), lengths)
    assert again.lower_bound_ == model.lower_bound_


def test_given_distances(tmp_path: Path) -> None:
    lengths = pairwise(X)
    model = KCenter(4, metric="precomputed", start=0).fit(lengths)
    rows = KCenter(4, start=0).fit(X)
    np.testing.assert_array_equal(model.center_indices_, rows.center_indices_)
    np.testing.assert_array_equal(model.predict(lengths[:9]), rows.labels_[:9])
    np.testing.assert_allclose(model.transform(lengths[:9]), rows.transform(X[:9]))
    with pytest.raises(AttributeError, match="given distances have none"):
        _ = model.cluster_centers_
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(coterie.load(tmp_path / "m").predict(lengths), model.labels_)
    lengths[0, 1] += 1
    with pytest.raises(ValueError, match=r"^KCenter: .*must be symmetric"):
        model.fit(lengths)


def test_a_mixed_table(tmp_path: Path) -> None:
    zoo = pd.DataFrame({"kind": ["cat", "cat", "ant", "ant"], "kg": [4.0, 5.0, 0.1, None]})
    model = KCenter(2, metric="gower", start=0).fit(zoo)
    assert model.cluster_centers_[:, 0].tolist() == ["cat", "ant"]
    np.testing.assert_array_equal(model.predict(zoo), model.labels_)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(coterie.load(tmp_path / "m").predict(zoo), model.labels_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "seuclidean"])
def test_rows_that_come_by(metric: str) -> None:
    model, whole = (KCenter(5, metric=metric, start=0).fit(rows) for rows in (Stream(X), X))
    np.testing.assert_array_equal(model.center_indices_, whole.center_indices_)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_array_equal(model.predict(Stream(X)), whole.labels_)


def test_copies_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"^KCenter: only 2 of n_clusters=3"):
        KCenter(3).fit(np.repeat([[0.0], [1]], 3, axis=0))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    model = KCenter(3, start=0).fit(X)
    for name, value in {
        "center_indices_": np.array([0, 0, 1]),
        "labels_": np.full(120, 3, dtype=np.int32),
        "radii_": np.array([1.0, 2.0, model.radius_]),
    }.items():
        kept = getattr(model, name)
        setattr(model, name, value)
        model.save(tmp_path / "m")
        setattr(model, name, kept)
        with pytest.raises(FileError):
            coterie.load(tmp_path / "m")
