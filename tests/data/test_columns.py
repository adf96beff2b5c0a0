"""Columns of mixed tables: taken apart, told by their cells, as numbers and as codes."""

from __future__ import annotations

import ast
import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coterie
from coterie import MixedMixture
from coterie.data import columns as c
from coterie.distance import as_metric

ZONE = dt.timezone(dt.timedelta(hours=5))


def objects(*cells: Any) -> Any:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]),
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        pa.table({"a": [1, 2], "b": ["x", "y"]}),
        np.array([[1, "x"], [2, "y"]], dtype=object),
    ],
    ids=["pandas", "a name twice", "polars", "arrow", "array"],
)
def test_every_table_has_columns(table: Any) -> None:
    assert [column.tolist() for column in c.columns_of(table)] == [[1, 2], ["x", "y"]]


def test_columns_of_arrow_have_its_nulls() -> None:
    words = pa.array(["b", None, "a", "b"]).dictionary_encode()
    sums = pa.array([Decimal("1.5"), None, Decimal("2"), None])
    days = pa.array([dt.date(2020, 1, 1), None] * 2)
    table = pa.table({"words": words, "sums": sums, "days": days, "none": pa.nulls(4)})
    found = c.columns_of(table)
    assert found[0].tolist() == ["b", None, "a", "b"]
    np.testing.assert_array_equal(found[1], [1.5, np.nan, 2, np.nan])
    assert [column.dtype.kind for column in found] == ["O", "f", "M", "O"]
    missing = [c.missing_cells(column).sum() for column in found]
    assert missing == [1, 2, 2, 4]


def test_what_is_no_table_has_none() -> None:
    assert c.columns_of(np.arange(3)) == []
    assert c.column_names(np.zeros((2, 2))) is None
    assert c.column_names(pa.table({"a": [1]})) == ["a"]


def test_columns_are_found_by_name_or_place() -> None:
    names = ["a", "b"]
    assert [c.place_of(key, names, 2) for key in ("b", 0, np.int64(1))] == [1, 0, 1]
    assert [c.place_of(key, names, 2) for key in ("c", 2, -1, 1.5)] == [None] * 4
    assert [c.place_of(key, names, 2, least=-2) for key in (-1, -2, -3)] == [1, 0, None]


@pytest.mark.parametrize("cell", [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")])
def test_marks_of_missing_cells(cell: Any) -> None:
    assert c.is_missing(cell)
    assert c.missing_cells(objects(cell, 1, "a")).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("column", "sorts"),
    [
        (np.array([1.5, np.nan]), {"number"}),
        (np.array([True, False]), {"truth"}),
        (np.array(["2020-01-01"], dtype="M8[D]"), {"time"}),
        (np.array([3], dtype="m8[h]"), {"time"}),
        (np.array(["a"]), {"word"}),
        (objects(1, 2.5, None, np.float32(1)), {"number"}),
        (objects(True, np.True_, pd.NA), {"truth", "numpy truth"}),
        (objects(True, 2.5), {"truth", "number"}),
        (objects(dt.date(2020, 1, 1), np.datetime64("2020-01-01"), pd.NaT), {"time", "numpy time"}),
        (objects(np.timedelta64(3, "h")), {"numpy duration"}),
        (objects(None, None), set()),
        (objects("a", 1), {"word", "number"}),
    ],
)
def test_sorts_of_cells(column: Any, sorts: set[str]) -> None:
    assert c.sorts_of(column) == sorts


@pytest.mark.parametrize(
    "column",
    [
        np.array(["1970-01-03", "NaT"], dtype="M8[D]"),
        np.array(["1970-01-03", "NaT"], dtype="M8[ns]"),
        objects(dt.date(1970, 1, 3), None),
        objects(dt.datetime(1970, 1, 3, 5, tzinfo=ZONE), pd.NaT),
        objects(np.datetime64("1970-01-03"), None),
        np.array([48, "NaT"], dtype="m8[h]"),
    ],
)
def test_times_count_in_a_unit(column: Any) -> None:
    np.testing.assert_array_equal(c.numbers(column, c.DAY), [2, np.nan])
    np.testing.assert_array_equal(c.numbers(column, c.SECOND), [172_800, np.nan])
    with pytest.raises(TypeError):
        c.numbers(column)


def test_numbers_that_are_none_are_named() -> None:
    np.testing.assert_array_equal(c.numbers(objects(1, None, pd.NA, 2.5)), [1, np.nan, np.nan, 2.5])
    with pytest.raises(ValueError, match=r"^Who: .* column 'a' holds 'x'; do this\.$"):
        c.finite_numbers("Who", "column 'a'", objects(None, "x"), c.DAY, "do this")
    with pytest.raises(ValueError, match="column 'a' contains infinity in row 1; mark"):
        c.finite_numbers("Who", "column 'a'", np.array([1, np.inf]), c.DAY, "do this")


@pytest.mark.parametrize("values", [["b", "a"], np.array(["a", "b"]), objects("a", "b")])
def test_codes_are_places_among_the_values(values: Any) -> None:
    listed = list(values)
    found = c.codes(objects("b", None, "a", "z", pd.NA), values)
    expected = [listed.index("b"), c.MISSING, listed.index("a"), c.UNKNOWN, c.MISSING]
    assert found.tolist() == expected
    plain = c.codes(np.array(["b", "z"]), values)
    assert plain.tolist() == [listed.index("b"), c.UNKNOWN]


def test_values_are_met_in_their_order() -> None:
    assert c.values_met(objects("b", None, "a", "b")) == ["b", "a"]


def test_one_hot_has_nothing_where_a_cell_is_missing() -> None:
    hot = c.one_hot([np.array([1, -1], dtype=np.int32), np.array([0, 2], dtype=np.int32)], [2, 3])
    assert hot.toarray().tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 0, 1]]


def test_what_gower_and_mixtures_choose_themselves() -> None:
    # Truth values and 0/1 are kinds of their own to a mixture; to Gower, categories and numbers.
    table = pd.DataFrame(
        {
            "truth": [True, False, True],
            "bit": [0, 1, 1],
            "both": objects(True, 2.5, None),
            "when": pd.to_datetime(["1970-01-01", "1970-01-02", None]),
            "word": ["b", "a", "b"],
        }
    )
    mixture = MixedMixture(random_state=0).fit(table)
    assert mixture.kinds_ == ["binary", "binary", "numeric", "numeric", "categorical"]
    assert mixture.means_[0, 1] == 0.5  # days
    assert mixture.categories_[2].tolist() == ["a", "b"]  # sorted
    gower = as_metric("gower", table).learned
    assert gower["categories"] == [[True, False], None, [True, 2.5], None, ["b", "a"]]
    assert gower["ranges"].tolist() == [0, 1, 0, 86_400, 0]  # seconds
    stranger = table.assign(word="z")
    assert as_metric("gower", **gower).prepare(stranger)[:, 4].tolist() == [-1, -1, -1]
    with pytest.raises(ValueError, match="column 'word' holds the category 'z'"):
        mixture.predict(stranger)


def test_missing_cells_are_told_in_one_place() -> None:
    own = Path(c.__file__)
    names = {"_columns", "_is_missing", "_is_number", "columns_of", "is_missing", "missing_cells"}
    found = {
        (path.name, node.name)
        for path in Path(coterie.__file__).parent.rglob("*.py")
        if path != own
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name in names
    }
    # A file's cells are text, and a complaint is about what a cell would be as a number.
    assert found == {("_notation.py", "missing_cells"), ("_complaints.py", "_is_missing")}
