"""Raw tables of any library: columns by distinct names, rows and columns taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from coterie.data import ArraySource
from coterie.data.raw_table import RawTable, distinct_names, raw_table
from coterie.errors import DataError

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", None, "y"]})


@pytest.mark.parametrize(
    "given", [FRAME, pl.from_pandas(FRAME), pl.from_pandas(FRAME).to_arrow()], ids=str
)
def test_frames_of_any_library_are_the_same_table(given: Any) -> None:
    table = raw_table(given)
    assert table.columns == ["a", "b"]
    assert table.shape == (3, 2)
    assert table["a"].tolist() == [1.0, 2.0, 3.0]
    assert [cell if isinstance(cell, str) else None for cell in table["b"]] == ["x", None, "y"]


def test_arrays_get_names_and_one_column_is_a_table() -> None:
    assert raw_table(np.zeros((4, 2))).columns == ["x0", "x1"]
    assert raw_table(np.zeros(4)).shape == (4, 1)
    assert raw_table(FRAME["a"]).columns == ["a"]
    assert raw_table(sp.eye(3, format="csr")).shape == (3, 3)
    masked = np.ma.masked_array([[1, 2], [3, 4]], [[0, 1], [0, 0]])
    assert np.isnan(raw_table(masked)["x1"][0])


def test_all_rows_of_a_source_are_taken() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(np.column_stack(raw_table(ArraySource(rows)).cells), rows)


def test_rows_and_columns_are_taken() -> None:
    table = raw_table(pl.from_pandas(FRAME).to_arrow())
    some = table.take(np.array([2, 0]))
    assert some["a"].tolist() == [3.0, 1.0]
    assert some["b"].tolist() == ["y", "x"]
    assert table.pick(["b"]).columns == ["b"]
    assert raw_table(table) is table


def test_names_that_stand_twice_get_a_number() -> None:
    names, said = distinct_names(["a", "a", "", "a (2)", "a"])
    assert names == ["a", "a (3)", "column 3", "a (2)", "a (4)"]
    assert len(said) == 3
    twice = FRAME.set_axis(["a", "a"], axis=1)
    table = raw_table(twice)
    assert table.columns == ["a", "a (2)"]
    assert table["a (2)"][0] == "x"
    assert table.renamed == ("Several columns are named 'a'; number 2 is 'a (2)' here.",)


@pytest.mark.parametrize("given", [np.zeros((2, 2, 2)), pl.DataFrame({"a": [1]}).lazy(), 3.0])
def test_what_is_no_table_is_refused(given: Any) -> None:
    with pytest.raises(DataError):
        raw_table(given)


def test_a_table_without_columns_has_no_rows() -> None:
    assert RawTable((), ()).shape == (0, 0)
