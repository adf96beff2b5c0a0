"""Rounded columns: equal values laid out over the step that rounding made of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Columns of no more values than this are levels, which no noise makes a measurement.
FEW_VALUES = 10
#: Of the range of a column: smaller steps between values are rounding of floating point.
_LEAST_STEP = 1e-9


def n_values(column: Floats) -> int:
    """How many different values a column has; O(n log n)."""
    ordered = np.sort(column)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1


def spread_ties(rows: Floats, rng: np.random.RandomState) -> Floats:
    """The rows, where equal values of a column are spread evenly over its least step.

    Whole years or lengths to the millimetre are spikes with gaps between them, each a mode to a
    test of modes; spread over the step they were rounded to, they are the measurements again as
    far as anyone can tell. Columns without equal values, and those of few values, stay as they are.
    """
    found = rows
    for place, column in enumerate(rows.T):
        values, counts = np.unique(column, return_counts=True)
        if values.size <= FEW_VALUES or values.size == column.size:
            continue
        tied = counts > 1
        steps = np.diff(values[tied])
        steps = steps[steps > _LEAST_STEP * (values[-1] - values[0])]
        if not steps.size:
            continue
        found = found.copy() if found is rows else found
        here = tied[np.searchsorted(values, column)]
        found[here, place] += steps.min() * (rng.random_sample(int(here.sum())) - 0.5)
    return found
