"""Columns of raw tables are told by their cells, and what is left out has a reason."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.report._column_kinds import LEFT_OUT, USED, column_kinds

N = 40
RNG = np.random.RandomState(0)
DAYS = [date(2020, 1, 1) + timedelta(days=int(day)) for day in RNG.permutation(N)]

#: A column, and the kind it is.
COLUMNS: dict[str, tuple[Any, str]] = {
    "length": (RNG.normal(size=N), "numeric"),
    "below zero": (np.where(np.arange(N) % 2, -3, 1) * np.arange(N), "numeric"),
    "visits": (RNG.poisson(30, N), "count"),
    "stars": (np.arange(N) % 5 + 1, "ordinal"),
    "size": (np.array(["S", "M", "L", "xl"] * 10, dtype=object), "ordinal"),
    "smoker": (np.arange(N) % 2 == 0, "binary"),
    "coded": (np.arange(N) % 2 + 1, "binary"),
    "sex": (np.array(["f", "m"] * (N // 2), dtype=object), "binary"),
    "colour": (np.array(["red", "green", "blue", "grey"] * 10, dtype=object), "categorical"),
    "row": (np.arange(N), "id"),
    "customer_id": (RNG.permutation(10_000)[:N], "id"),
    "code": (np.array([f"A{i:03}" for i in range(N)], dtype=object), "id"),
    "remark": (np.array([f"this is remark number {i}" for i in range(N)], dtype=object), "text"),
    "town": (np.array([f"town {i}" for i in np.arange(N) % 30], dtype=object), "text"),
    "day": (np.array(DAYS, dtype="datetime64[D]"), "date"),
    "written day": (np.array([f"{day:%d.%m.%Y}" for day in DAYS], dtype=object), "date"),
    "few days": (np.array([f"{day:%m/%d/%Y}" for day in DAYS[:8]] * 5, dtype=object), "date"),
    "moment": (np.array([f"{day} 10:30:00" for day in DAYS], dtype=object), "date"),
    "in letters": (np.array([f"{day:%b} {day.day}, 2020" for day in DAYS], dtype=object), "date"),
    "release": (np.array(["1.2.10", "1.10.3", "2.0.0", "2.1.7"] * 10, dtype=object), "categorical"),
    "stay": (RNG.randint(1, 999, N).astype("m8[s]"), "numeric"),
    "same": (np.full(N, 7.0), "constant"),
    "none": (np.full(N, np.nan), "empty"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_told_by_its_cells(name: str) -> None:
    cells, kind = COLUMNS[name]
    for frame in (pd.DataFrame({name: cells}), pl.DataFrame({name: cells.tolist()})):
        (told,) = column_kinds(frame)
        assert (told.name, told.kind) == (name, kind)
        assert told.is_used == (kind in USED)
        assert told.is_used or told.reason


def test_missing_cells_are_counted_and_change_no_kind() -> None:
    for name, (cells, kind) in COLUMNS.items():
        if name in ("row", "none", "stay"):
            continue  # with a gap they no longer follow each other, nor are durations an array
        column = pd.Series(cells).astype(object)
        column[::10] = None
        (told,) = column_kinds(pd.DataFrame({name: column}))
        assert (told.kind, told.n_missing) == (kind, N if kind == "empty" else 4), name


def test_infinite_cells_are_missing() -> None:
    (told,) = column_kinds(pd.DataFrame({"a": [np.inf, np.nan, *RNG.normal(size=N)]}))
    assert (told.kind, told.n_missing, told.n_distinct) == ("numeric", 2, N)


def test_lists_are_no_values() -> None:
    for frame in (pd.DataFrame({"a": [[1, 2], [3]] * N}), pl.DataFrame({"a": [[1, 2], [3]] * N})):
        (told,) = column_kinds(frame)
        assert told.kind == "text"
        assert "lists or records" in (told.reason or "")


def test_ordinal_levels_go_from_the_low_end_to_the_high_end() -> None:
    cells = ["high", "low", "medium", "low"] * 5
    (told,) = column_kinds(pd.DataFrame({"risk": cells}))
    assert told.levels == ("low", "medium", "high")


def test_names_alone_do_not_make_keys() -> None:
    (told,) = column_kinds(pd.DataFrame({"id": RNG.normal(size=N)}))
    assert told.kind == "numeric"
    (told,) = column_kinds(pd.DataFrame({"weird": RNG.permutation(10_000)[:N]}))
    assert told.kind == "count"


def test_arrays_have_numbered_columns() -> None:
    told = column_kinds(RNG.normal(size=(N, 2)))
    assert [(column.name, column.place) for column in told] == [("x0", 0), ("x1", 1)]


def test_duplicate_names_stay_apart() -> None:
    frame = pd.DataFrame(np.column_stack([RNG.normal(size=N), np.ones(N)]), columns=["a", "a"])
    assert [told.kind for told in column_kinds(frame)] == ["numeric", "constant"]


cell = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=3))


@given(st.lists(cell, max_size=30))
def test_any_cells_have_a_kind(cells: list[Any]) -> None:
    (told,) = column_kinds(pd.DataFrame({"any": pd.Series(cells, dtype=object)}))
    assert told.kind in USED + LEFT_OUT
    assert told.is_used == (told.kind in USED)
    assert 0 <= told.n_distinct <= len(cells) - told.n_missing
