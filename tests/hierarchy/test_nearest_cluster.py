"""New rows to clusters of a tree: by what the fit kept, whatever became of its rows since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coterie
from coterie.hierarchy import METHODS


def mixed(n: int = 40) -> Any:
    """Two kinds of birds, with text, truth values, whole numbers and missing cells."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "kind": np.where(kind, "gull", "tern"),
            "ringed": kind == 1,
            "wing": 100.0 + 80 * kind + rng.normal(size=n),
            "eggs": 1 + 3 * kind + rng.integers(0, 2, n),
        }
    )
    frame.loc[4, "wing"] = np.nan
    frame.loc[7, "kind"] = None
    return frame


@pytest.mark.parametrize("method", METHODS)
def test_rows_changed_after_the_fit_change_no_prediction(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    new = np.random.default_rng(1).normal(size=(30, 3))
    model = coterie.AgglomerativeClustering(5, linkage=method).fit(X)
    labels, before = model.labels_.copy(), model.predict(new)
    X[:] = X[::-1] * 7
    np.testing.assert_array_equal(model.predict(new), before)
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_mixed_tables_under_gower(method: str, library: str, tmp_path: Path) -> None:
    frame = mixed()
    table = pl.from_pandas(frame) if library == "polars" else frame
    model = coterie.AgglomerativeClustering(2, metric="gower", linkage=method).fit(table)
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], np.arange(40) % 2 == 0)
    np.testing.assert_array_equal(model.Z_, coterie.linkage(table, method, "gower"))
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    # Ranges and categories are those of the fit, also where new rows have others.
    new = pd.DataFrame({"kind": ["gull", "owl"], "ringed": [True, False], "wing": [179, 90.0],
                        "eggs": [4, 1]})  # fmt: skip
    new = pl.from_pandas(new) if library == "polars" else new
    np.testing.assert_array_equal(model.predict(new), model.labels_[[1, 0]])
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert 0.5 < model.cophenetic_correlation(table) <= 1
    assert list(model.feature_names_in_) == list(frame.columns)


def test_gower_with_connections_and_as_an_array() -> None:
    frame = mixed()
    model = coterie.AgglomerativeClustering(
        2, metric="gower", linkage="average", connectivity=lambda X: np.ones((len(X), len(X)))
    )
    np.testing.assert_array_equal(
        model.fit(frame).labels_, model.set_params(connectivity=None).fit(frame).labels_
    )
    array = frame.drop(columns=["kind"]).to_numpy(dtype=float)
    model.fit(array)
    np.testing.assert_array_equal(model.predict(array), model.labels_)
    with pytest.raises(ValueError, match="4 features, but AgglomerativeClustering is expecting 3"):
        model.predict(np.ones((2, 4)))


def test_gower_needs_two_rows_and_a_cell_in_common() -> None:
    model = coterie.AgglomerativeClustering(1, metric="gower", linkage="average")
    with pytest.raises(ValueError, match=r"^AgglomerativeClustering: .* 1 sample"):
        model.fit(mixed(40).iloc[:1])
    apart = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": [np.nan, "x", np.nan]})
    with pytest.raises(ValueError, match="not finite for some pairs"):
        model.fit(apart)
