"""Columns of the fit are found by their names wherever rows are asked about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

from coterie import DBSCAN, HDBSCAN, CategoricalMixture, GaussianMixture, KMeans, MixedMixture
from coterie.data import as_source
from coterie.data import open as open_rows
from coterie.data.by_name import by_name
from coterie.errors import DataError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    (RNG.normal(size=(300, 3)) + np.repeat([[0, 0, 0], [6, 0, -6]], 150, axis=0)) * [1, 10, 100],
    columns=["a", "b", "c"],
)
WORDS = FRAME.assign(word=np.where(FRAME["a"] > 3, "high", "low"))
SHUFFLED = FRAME[["c", "a", "b"]]


@pytest.fixture(autouse=True)
def threads() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def ways(frame: Any, tmp_path: Path) -> dict[str, Any]:
    """A frame as all that has columns with names and is not in memory."""
    frame.to_parquet(tmp_path / "rows.parquet")
    return {
        "path": tmp_path / "rows.parquet",
        "dataset": ds.dataset(tmp_path / "rows.parquet"),
        "source": open_rows(tmp_path / "rows.parquet"),
        "dask frame": dd.from_pandas(frame, npartitions=3),
    }


@pytest.mark.parametrize("way", ["path", "dataset", "source", "dask frame"])
@pytest.mark.parametrize(
    "model",
    [KMeans(2, random_state=0), GaussianMixture(2, random_state=0), DBSCAN(eps=60), HDBSCAN(),
     MixedMixture(2, random_state=0)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_columns_in_another_order_and_others_beside_them(
    model: Any, way: str, tmp_path: Path
) -> None:
    model.fit(FRAME)
    labels = np.asarray(model.predict(FRAME))
    assert 0 < labels.mean() < 1
    for asked in (SHUFFLED, SHUFFLED.assign(z=1.0)):
        found = model.predict(ways(asked, tmp_path)[way])
        np.testing.assert_array_equal(np.asarray(found), labels)


def test_a_column_of_text_beside_those_of_the_fit_is_no_obstacle(tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(FRAME)
    mixed = ways(WORDS[["word", "c", "b", "a"]], tmp_path)
    for way in ("path", "dataset", "dask frame"):
        found = np.asarray(model.predict(mixed[way]))
        np.testing.assert_array_equal(found, model.labels_)


@pytest.mark.parametrize("way", ["path", "dataset", "source", "dask frame"])
def test_tables_of_words_and_numbers(way: str, tmp_path: Path) -> None:
    for model, columns in ((MixedMixture(2, random_state=0), ["a", "word", "b"]),
                           (CategoricalMixture(2, random_state=0), ["word"])):  # fmt: skip
        model.fit(WORDS[columns])
        found = model.predict(ways(WORDS[["word", "c", "b", "a"]], tmp_path)[way])
        np.testing.assert_array_equal(np.asarray(found), model.predict(WORDS[columns]))


@pytest.mark.parametrize("way", ["path", "dataset", "source", "dask frame"])
def test_a_column_that_is_not_there_is_named(way: str, tmp_path: Path) -> None:
    asked = ways(FRAME.rename(columns={"b": "B"}), tmp_path)[way]
    for model in (KMeans(2), GaussianMixture(2), DBSCAN(eps=9), HDBSCAN(), MixedMixture(2)):
        model.fit(FRAME)
        with pytest.raises(DataError, match=r"no column 'b'; it has a, B, c; did you mean 'B'"):
            model.predict(asked)


def test_scaled_rows_are_scaled_by_name(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "fit.parquet")
    SHUFFLED.to_parquet(tmp_path / "asked.parquet")
    scaled = open_rows(tmp_path / "fit.parquet", scale="standard")
    model = KMeans(2, random_state=0).fit(scaled)
    plain = KMeans(2, random_state=0).fit((FRAME - FRAME.mean()) / FRAME.std(ddof=0))
    for scale in (None, "standard"):
        asked = open_rows(tmp_path / "asked.parquet", scale=scale)
        np.testing.assert_array_equal(model.predict(asked), model.labels_)
    # A model of rows that were scaled beforehand takes those of a scaled source as they come.
    asked = open_rows(tmp_path / "asked.parquet", scale="standard")
    np.testing.assert_array_equal(plain.predict(asked), plain.labels_)


def test_rows_elsewhere_without_names_go_by_places(tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(dd.from_pandas(FRAME, npartitions=2))
    rows = FRAME.to_numpy()
    np.testing.assert_array_equal(model.predict(as_source(rows)), model.labels_)
    found = model.predict(da.from_array(rows, chunks=(100, 3)))
    np.testing.assert_array_equal(found, model.labels_)
    np.save(tmp_path / "rows.npy", rows)
    np.testing.assert_array_equal(model.predict(tmp_path / "rows.npy"), model.labels_)
    source = as_source(rows)
    assert by_name(source, ["a", "b", "c"]) is source


def test_weights_stay_with_their_rows(tmp_path: Path) -> None:
    path = ways(SHUFFLED.assign(w=np.arange(300.0) + 1), tmp_path)["path"]
    model = KMeans(2, random_state=0).fit(FRAME)
    for scale in (None, "standard"):
        chosen = by_name(open_rows(path, weights="w", scale=scale), ["a", "b"])
        assert chosen.names == ("a", "b")
        np.testing.assert_array_equal(chosen.weights, np.arange(300.0) + 1)
    asked = open_rows(path, weights="w")
    assert model.score(asked) == pytest.approx(model.score(FRAME, sample_weight=asked.weights))
