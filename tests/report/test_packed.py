"""Covers coterie.report._packed."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import numpy as np
import pytest

from coterie.report._packed import Packed, coordinates, packed


def unpacked(column: Packed) -> Any:
    """What the page makes of a column."""
    raw = np.frombuffer(b64decode(column["data"]), dtype=f"<{column['dtype']}")
    if not column["scale"]:
        return raw.astype(float)
    missing = raw == np.iinfo(raw.dtype).min
    return np.where(missing, np.nan, raw / column["scale"])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 1, -1, 127], "i1"),
        ([-128], "i2"),  # the least of a byte stands for a missing one
        ([0.1, 0.25, None, -3.75], "i2"),
        ([39.1, 40.3, None, 1234.5], "i2"),
        ([1e6, 2.5], "i4"),
        ([2**31 - 1, -(2**31) + 1], "i4"),
        ([2.0**31, 0.0], "f8"),
        ([1 / 3, None], "f8"),
        ([1e300, 1e-300], "f8"),
        ([True, False], "i1"),
        ([None, None], "i1"),
        ([], "i1"),
    ],
)
def test_numbers_come_back_exactly(values: list[Any], dtype: str) -> None:
    column = packed(values)
    assert column["dtype"] == dtype
    np.testing.assert_array_equal(unpacked(column), np.array(values, dtype=float))


def test_many_long_numbers_keep_seven_digits() -> None:
    values = np.random.default_rng(0).normal(size=20_001)
    column = packed(values)
    assert column["dtype"] == "f4"
    np.testing.assert_allclose(unpacked(column), values, rtol=1e-7)
    assert packed(np.round(values, 2))["dtype"] == "i2"  # short ones stay exact


def test_places_on_a_drawing_are_short() -> None:
    assert coordinates([0.1, 0.2])["dtype"] == "f4"
