"""Codes go into lists and come back. Covers coterie.search._lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.errors import FileError
from coterie.search._lists import Lists, check_lists, in_lists, out_of_lists


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 400), n_lists=st.integers(1, 9), width=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_codes_go_in_and_come_out(n: int, n_lists: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_lists, n) ** 2 // n_lists  # of different sizes, some empty
    codes = rng.integers(0, 256, (n, width), dtype=np.uint8)
    lists = in_lists(labels, codes, n_lists)
    check_lists(lists, n, n_lists, width)
    for part, other in zip(out_of_lists(lists), (labels, codes), strict=True):
        assert_array_equal(part, other)
    block = 0
    for which in range(n_lists):  # as the kernel reads them
        places = range(lists.row_starts[which], lists.row_starts[which + 1])
        for i, place in enumerate(places):
            row = lists.rows[place]
            assert labels[row] == which
            assert_array_equal(lists.blocks[block + i // 64, :, i % 64], codes[row])
        block += -(-len(places) // 64)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("rows", lambda rows: np.zeros_like(rows)),
        ("rows", lambda rows: rows[:-1]),
        ("rows", lambda rows: rows.astype(np.int32)),
        ("row_starts", lambda starts: starts[::-1]),
        ("row_starts", lambda starts: starts + 1),
        ("row_starts", lambda starts: np.array([0, 90, 10, 150])),
        ("blocks", lambda blocks: blocks[:-1]),
        ("blocks", lambda blocks: blocks.astype(np.int64)),
    ],
)
def test_lists_that_do_not_hold_every_row_once_are_refused(field: str, change: object) -> None:
    labels = np.repeat([0, 1, 2], 50)
    lists = in_lists(labels, np.zeros((150, 2), dtype=np.uint8), 3)
    wrong = lists._replace(**{field: change(getattr(lists, field))})  # type: ignore[operator]
    with pytest.raises(FileError, match="it is damaged"):
        check_lists(Lists(*wrong), 150, 3, 2)
