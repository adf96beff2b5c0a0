"""Codes on their way in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.quantize._checked_codes import checked_codes


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32])
def test_whole_numbers_of_any_type_are_codes(dtype: Any) -> None:
    given = np.array([[0, 15], [3, 4]], dtype=dtype)
    codes = checked_codes("Q", given, 2, 16, "codes")
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, given)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ([[0, 16]], "from 0 to 15"),
        ([[-1, 0]], "from 0 to 15"),
        ([[0.5, 0]], "from 0 to 15"),
        ([[np.nan, 0]], "from 0 to 15"),
        ([["a", "b"]], "from 0 to 15"),
        ([[1, 2, 3]], r"shape \(1, 3\) where \(n_rows, 2\)"),
        ([1, 2], r"shape \(2,\)"),
    ],
)
def test_what_is_no_table_of_codes_is_refused(codes: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        checked_codes("Q", codes, 2, 16, "codes")


def test_no_rows_are_no_error() -> None:
    assert checked_codes("Q", np.empty((0, 2), dtype=np.uint8), 2, 16, "codes").shape == (0, 2)
