"""Equal values spread over the step they were rounded to."""

from __future__ import annotations

import numpy as np

from coterie.select._ties import n_values, spread_ties


def test_rounded_values_are_spread_over_their_step() -> None:
    rng = np.random.RandomState(0)
    rows = np.rint(rng.normal(50, 8, (400, 2))) / 4
    found = spread_ties(rows, rng)
    assert n_values(found[:, 0]) > 390
    assert 0.11 < np.abs(found - rows).max() <= 0.125
    assert rows[0, 0] * 4 % 1 == 0, "the rows that were given stay as they were"


def test_what_was_not_rounded_stays() -> None:
    rng = np.random.RandomState(0)
    rows = np.column_stack([rng.normal(size=100), np.arange(100) % 10, np.ones(100)])
    assert spread_ties(rows, rng) is rows


def test_a_spike_among_distinct_values_stays() -> None:
    """No other value is met twice, so nothing tells a step."""
    rng = np.random.RandomState(0)
    rows = np.maximum(rng.normal(size=(200, 1)), 0)
    np.testing.assert_array_equal(spread_ties(rows, rng), rows)
