"""Columns of tables as numbers and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.select._described import (
    Categories,
    Numbers,
    coded_table,
    describe_columns,
    scale_table,
)


def described(values: list[Any]) -> Any:
    column = np.empty((len(values), 1), dtype=object)
    column[:, 0] = values
    return describe_columns("test", column)[0]


def test_numbers_and_missing_cells() -> None:
    found = described([1, 2.5, None, np.nan])
    assert isinstance(found, Numbers)
    assert found.missing.tolist() == [False, False, True, True]
    assert found.tell(2.5) == "2.5"


@pytest.mark.parametrize(
    "values", [[True, False, None, True], [1, 0, np.nan, 1], ["b", "a", None, "b"]]
)
def test_two_values_are_one_level(values: list[Any]) -> None:
    found = described(values)
    assert isinstance(found, Categories)
    assert found.binary
    assert found.levels == (values[0],)
    assert found.codes.tolist() == [0, -1, -1, 0]
    assert found.missing.tolist() == [False, False, True, False]


def test_zeros_alone_are_numbers() -> None:
    assert isinstance(described([0, 0, 0]), Numbers)
    assert isinstance(described([0, 1, 2]), Numbers)


def test_words() -> None:
    found = described(["red", "green", "blue", "red", None])
    assert isinstance(found, Categories)
    assert found.levels == ("blue", "green", "red")
    assert found.codes.tolist() == [2, 1, 0, 2, -1]


def test_of_many_levels_the_frequent_ones_count() -> None:
    words = [f"w{i:03}" for i in range(100)] + ["w042"] * 5 + ["w099"] * 3
    found = described(words)
    assert len(found.levels) == 20
    assert {"w042", "w099"} <= set(found.levels)
    assert (found.codes[[42, 100]] == found.levels.index("w042")).all()
    assert found.codes[50] == -1


def test_dates_are_told_as_dates() -> None:
    days = np.array(["2020-01-01", "2020-01-03", "NaT"], dtype="datetime64[D]")[:, np.newaxis]
    found = describe_columns("test", days)[0]
    assert isinstance(found, Numbers)
    assert found.tell(float(np.nanmean(found.values))) == "2020-01-02"


def test_the_coded_table() -> None:
    cells = np.array([[1.5, "a"], [2.5, "b"], [None, "c"], [4.0, None]], dtype=object)
    table, places = coded_table(describe_columns("test", cells))
    np.testing.assert_array_equal(
        table, [[1.5, 1, 0, 0], [2.5, 0, 1, 0], [np.nan, 0, 0, 1], [4, np.nan, np.nan, np.nan]]
    )
    assert [place.level for place in places] == [None, 0, 1, 2]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_scaling_and_back(scale: float) -> None:
    table = np.array([[1.0, 5, np.nan, 2], [3.0, 5, np.nan, np.nan], [8.0, 5, np.nan, 6]]) * scale
    scaled = scale_table(table)
    np.testing.assert_allclose(scaled.table[:, 0].std(), 1)
    np.testing.assert_array_equal(scaled.table[:, 1:3], 0)
    assert scaled.back(0, scaled.table[2, 0]) == pytest.approx(8 * scale, rel=1e-12)
    assert scaled.back(3, scaled.table[0, 3]) == pytest.approx(2 * scale, rel=1e-12)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="infinity in row 1"):
        describe_columns("test", [[1.0], [np.inf]])
    with pytest.raises(ValueError, match="a row and a column at least"):
        describe_columns("test", np.empty((0, 2)))


def test_durations_are_told_in_days() -> None:
    hours = np.array([[6], [12], [36], [0]]).astype("timedelta64[h]")
    (found,) = describe_columns("test", hours)
    assert isinstance(found, Numbers)
    assert found.values.tolist() == [0.25, 0.5, 1.5, 0.0]
    assert found.tell(0.25) == "0.25 days"
