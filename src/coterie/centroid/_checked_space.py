"""Coordinates for the rows of a user, or a sentence that says why there are none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from coterie._doors import check_finite
from coterie.centroid._passes import choose_space
from coterie.centroid._space import Columns, NotFiniteError, Space
from coterie.data import Source

Floats = npt.NDArray[np.float64]

#: Below this the squares of differences lose digits.
_SMALLEST_RANGE = 1e-151


def checked_space(
    who: str,
    blocks: Source,
    centers: Floats | None = None,
    names: Sequence[str] | None = None,
    start: int = 0,
) -> tuple[Columns, Space]:
    """Coordinates for these rows; a clear error where they hold what cannot be clustered.

    Parameters
    ----------
    who
        The estimator or function that asks.
    blocks
        Rows that may hold anything.
    centers
        Fitted centres that the rows are to be compared with.
    names
        Of the columns, for complaints.
    start
        The number of the first row, for complaints.
    """
    try:
        columns, space = choose_space(blocks, centers)
    except NotFiniteError:
        with np.errstate(over="ignore", invalid="ignore"):
            for block in blocks:
                check_finite(who, block.rows, names, start=start + block.start)
        columns = None
    if columns is None or _squares_overflow(columns, columns.n_rows):
        raise ValueError(
            f"{who}: X has values so large that squared distances overflow float64; "
            "divide X by a constant (for example its largest absolute value)."
        )
    if blocks.weights is not None:
        with np.errstate(over="ignore"):
            total = float(blocks.weights.sum())
        if _squares_overflow(columns, total):
            raise ValueError(
                f"{who}: sample_weight has values so large (up to {blocks.weights.max():.3g}) that "
                "weighted sums of squared distances overflow float64; divide sample_weight by a "
                "constant (for example its largest value)."
            )
    largest = float(np.max(columns.max - columns.min))
    if centers is None and 0 < largest < _SMALLEST_RANGE:
        raise ValueError(
            f"{who}: the values of X differ by {largest:.3g} at most, so that squared "
            "distances underflow float64; multiply X by a constant (for example 1e150)."
        )
    return columns, space


def _squares_overflow(columns: Columns, total_weight: float) -> bool:
    """Whether a sum of squared distances among these rows could exceed the largest float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        half = np.max(columns.max / 2 - columns.min / 2)
        largest = half * half * (16 * columns.min.size) * total_weight
        return not np.isfinite(largest) or not np.isfinite(16 * total_weight)
