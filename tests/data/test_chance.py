"""Random numbers by row: the same for a row wherever its block begins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.data.chance import Chance


@given(
    key=st.integers(0, 2**128 - 1),
    start=st.integers(0, 10**12),
    size=st.integers(0, 50),
    skip=st.integers(0, 20),
)
def test_a_row_draws_the_same_in_any_block(key: int, start: int, size: int, skip: int) -> None:
    chance = Chance(key)
    whole = chance.draw(start, skip + size)
    np.testing.assert_array_equal(chance.draw(start + skip, size), whole[skip:])
    assert ((whole >= 0) & (whole < 1)).all()


def test_rounds_keys_and_rows_draw_differently() -> None:
    first = Chance.of(np.random.RandomState(0))
    assert first == Chance.of(np.random.RandomState(0))
    assert first != Chance.of(np.random.RandomState(1))
    numbers = np.concatenate([first.draw(0, 1000), first.again().draw(0, 1000)])
    assert np.unique(numbers).size == 2000
    np.testing.assert_allclose(np.histogram(first.draw(0, 80_000), 8)[0], 10_000, rtol=0.05)
