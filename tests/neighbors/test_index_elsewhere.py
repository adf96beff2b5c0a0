"""Rows in files, of sources and of Dask, for what needs all of them at once.

Covers coterie._in_memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import FeatureAgglomeration, neighbors
from coterie._in_memory import held
from coterie.neighbors import Index

ROWS = np.random.default_rng(0).normal(size=(60, 4))
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(params=["npy", "parquet", "source", "dataset", "dask array", "dask frame"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "npy":
        np.save(tmp_path / "rows.npy", ROWS)
        return tmp_path / "rows.npy"
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=NAMES)
    if request.param.startswith("dask"):
        dask_array, dask_frame = (pytest.importorskip(f"dask.{n}") for n in ("array", "dataframe"))
        if request.param == "dask array":
            return dask_array.from_array(ROWS, chunks=(25, 4))
        return dask_frame.from_pandas(frame, npartitions=3)
    ds = pytest.importorskip("pyarrow.dataset")
    frame.to_parquet(tmp_path / "rows.parquet")
    if request.param == "parquet":
        return str(tmp_path / "rows.parquet")
    if request.param == "dataset":
        return ds.dataset(tmp_path / "rows.parquet")
    return coterie.data.open(tmp_path / "rows.parquet")


def test_neighbours_are_those_in_memory(elsewhere: Any) -> None:
    found, known = coterie.spanning_tree(elsewhere), coterie.spanning_tree(ROWS)
    np.testing.assert_array_equal(found.heads, known.heads)
    np.testing.assert_array_equal(found.lengths, known.lengths)
    np.testing.assert_array_equal(neighbors.knn(elsewhere, 3).ids, neighbors.knn(ROWS, 3).ids)
    asked = Index(ROWS).knn(2, elsewhere), Index(elsewhere).knn(2, ROWS)
    np.testing.assert_array_equal(asked[0].dists, asked[1].dists)
    for ask in (neighbors.within, neighbors.count_within):
        for ours, theirs in zip(ask(elsewhere, 1.0), ask(ROWS, 1.0), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_columns_are_joined_as_in_memory(elsewhere: Any) -> None:
    found, known = FeatureAgglomeration(2).fit(elsewhere), FeatureAgglomeration(2).fit(ROWS)
    np.testing.assert_array_equal(found.Z_, known.Z_)
    np.testing.assert_array_equal(found.transform(elsewhere), known.transform(ROWS))
    assert found.n_features_in_ == 4
    assert getattr(found, "feature_names_in_", np.array(NAMES)).tolist() == NAMES


def test_what_does_not_fit_is_refused_with_its_size(
    elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 100)
    words = r"needs all rows in memory; they need 1\.92e-06 GB and 1e-07 GB are available; use a"
    for ask in (
        Index, coterie.spanning_tree, FeatureAgglomeration(2).fit, lambda X: neighbors.knn(X, 2),
        coterie.HDBSCAN().fit, coterie.AgglomerativeClustering(2).fit,
    ):  # fmt: skip
        with pytest.raises(MemoryError, match=words):
            ask(elsewhere)


def test_columns_and_cells_are_looked_at(tmp_path: Path) -> None:
    holed = ROWS.copy()
    holed[3, 1] = np.nan
    np.save(tmp_path / "holed.npy", holed)
    np.save(tmp_path / "one.npy", ROWS[:, :1])
    for ask in (Index, FeatureAgglomeration(2).fit):
        with pytest.raises(ValueError, match="contains NaN"):
            ask(tmp_path / "holed.npy")
    with pytest.raises(ValueError, match=r"1 feature\(s\)"):
        FeatureAgglomeration(1).fit(tmp_path / "one.npy")
    model = FeatureAgglomeration(2).fit(ROWS)
    with pytest.raises(ValueError, match="X has 1 features, but FeatureAgglomeration is expecting"):
        model.transform(tmp_path / "one.npy")


def test_rows_at_hand_stay_what_they_are() -> None:
    assert held("who", ROWS, "this") is ROWS
    assert held("who", None, "this") is None
