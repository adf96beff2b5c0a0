"""Cutting columns into parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.quantize._parts import part_of_column, part_starts


@given(st.integers(1, 300), st.data())
def test_every_column_is_in_one_part_and_the_wider_parts_come_first(
    n_cols: int, data: st.DataObject
) -> None:
    n_parts = data.draw(st.integers(1, n_cols))
    starts = part_starts(n_cols, n_parts)
    widths = np.diff(starts)
    assert (starts[0], starts[-1], widths.size) == (0, n_cols, n_parts)
    assert widths.min() >= 1
    assert (np.diff(widths) <= 0).all()
    assert np.count_nonzero(widths > n_cols // n_parts) == n_cols % n_parts
    parts = part_of_column(starts)
    for m in range(n_parts):
        assert (parts[starts[m] : starts[m + 1]] == m).all()


def test_ten_columns_in_four_parts() -> None:
    assert part_starts(10, 4).tolist() == [0, 3, 6, 8, 10]
