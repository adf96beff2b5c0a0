"""Gower's metric of data frames: missing cells of every kind, times, columns by name.

Covers coterie.distance._gower.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coterie
from coterie.distance import as_metric, pairwise

CELLS: dict[str, list[Any]] = {
    "town": ["Ulm", None, "Bonn", "Ulm"],
    "member": [True, False, None, True],
    "visits": [1, 5, 3, None],
    "height": [1.5, None, 2.5, 2.0],
}
EXPECTED = [  # by hand: town, member, visits, height
    [0, (1 + 1) / 2, (1 + 0.5 + 1) / 3, (0 + 0 + 0.5) / 3],
    [1, 0, 0.5, 1],
    [2.5 / 3, 0.5, 0, (1 + 0.5) / 2],
    [0.5 / 3, 1, 0.75, 0],
]


def frames() -> dict[str, Any]:
    nullable = {"town": "string", "member": "boolean", "visits": "Int64", "height": "Float64"}
    return {
        "nullable": pd.DataFrame({n: pd.array(c, dtype=nullable[n]) for n, c in CELLS.items()}),
        "objects": pd.DataFrame(CELLS, dtype=object),
        "categories": pd.DataFrame(CELLS).astype({"town": "category"}),
        "polars": pl.DataFrame(CELLS),
        "array": np.array(list(CELLS.values()), dtype=object).T,
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_missing_cells_of_every_kind_of_table_are_missing(kind: str) -> None:
    np.testing.assert_allclose(pairwise(frames()[kind], metric="gower"), EXPECTED)


def test_masked_cells_are_missing() -> None:
    X = np.ma.masked_array([[1.0, 2], [3, 4], [5, 8]], mask=[[0, 1], [0, 0], [0, 0]])
    np.testing.assert_allclose(pairwise(X, metric="gower")[0], [0, 0.5, 1])


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_are_numbers(zone: str | None) -> None:
    times = pd.to_datetime(["2020-01-01", None, "2020-01-11", "2020-01-06"]).tz_localize(zone)
    days = [None if t is pd.NaT else t.date() for t in times]
    tables = {
        "pandas": pd.DataFrame({"t": times}),
        "days": pd.DataFrame({"t": pd.Series(days, dtype=object)}),
        "polars": pl.DataFrame({"t": days}),
        "lengths": pd.DataFrame({"t": times - times[0]}),
    }
    for table in tables.values():
        found = pairwise(table, metric="gower")
        np.testing.assert_allclose(found[0], [0, np.inf, 1, 0.5])


def test_units_of_times_do_not_matter_to_new_rows() -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 11, 6)]
    metric = as_metric("gower", pl.DataFrame({"t": days}))
    fine = pd.DataFrame({"t": pd.to_datetime(["2020-01-06"]).astype("datetime64[ns]")})
    found = metric.lengths(metric.prepare(fine), metric.prepare(pl.DataFrame({"t": days})))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0]])


def test_categorical_columns_have_names_places_or_a_mask() -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1, 2, 1]})
    expected = pairwise(frame, metric="gower", categorical=["b"])
    np.testing.assert_allclose(expected[0], [0, 0.75, 0.5])
    for same in ("b", [1], [-1], [False, True], np.array([1]), pd.Index(["b"])):
        np.testing.assert_array_equal(pairwise(frame, metric="gower", categorical=same), expected)
    polar = pl.DataFrame({"a": [1.0, 2, 3], "b": [1, 2, 1]})
    np.testing.assert_array_equal(pairwise(polar, metric="gower", categorical=["b"]), expected)


@pytest.mark.parametrize("categorical", [[99], ["c"], [True], [1.5], [-3]])
def test_columns_that_are_not_there_are_named(categorical: Any) -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1, 2, 1]})
    with pytest.raises(ValueError, match=r"names the column .* and X has 2 columns; pass"):
        pairwise(frame, metric="gower", categorical=categorical)


@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")  # every row is core
def test_density_methods_take_missing_cells() -> None:
    frame = pd.concat([frames()["nullable"]] * 6, ignore_index=True)
    model = coterie.DBSCAN(0.2, metric="gower", min_samples=3).fit(frame)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    assert coterie.HDBSCAN(3, metric="gower").fit(frame).labels_.max() >= 1
