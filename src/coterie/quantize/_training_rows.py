"""The rows a quantizer learns from: some of a source, checked, in float32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from coterie._doors import check_finite
from coterie._history import Recorder
from coterie.data import Source

Rows = npt.NDArray[np.float32]

#: Columns whose spread float32 keeps with less than two digits are told of.
_LOST = 0.01
#: Spreads whose squares float32 holds, with room for sums.
_LARGEST, _SMALLEST = 1e18, 1e-17


def training_rows(
    who: str,
    source: Source,
    size: int,
    rng: np.random.RandomState,
    recorder: Recorder,
    names: Sequence[str] | None = None,
) -> Rows:
    """So many rows without repetition, or all there are, as float32 in C order.

    Raises
    ------
    ValueError
        Where one is not finite, or squared distances leave the range of float32.
    """
    sample = source.sample(size, 1, rng)
    if source.n_rows == 0:
        raise ValueError(f"{who}: X has no rows to learn from; pass at least one.")
    given = next(iter(sample)).rows
    check_finite(who, given, names)
    low, high = (np.asarray(edge(axis=0), dtype=np.float64) for edge in (given.min, given.max))
    spread, size_of = high - low, np.maximum(np.abs(low), np.abs(high))
    largest = float(spread.max()) * max(1.0, given.shape[1] ** 0.5 / 8)
    if not (largest < _LARGEST and size_of.max() < np.finfo(np.float32).max):
        raise ValueError(
            f"{who}: X has values so large (up to {size_of.max():.3g}) that squared distances "
            "overflow float32; divide X by a constant (for example its largest absolute value)."
        )
    if 0 < largest < _SMALLEST:
        raise ValueError(
            f"{who}: the values of X differ by {spread.max():.3g} at most, so that squared "
            "distances underflow float32; multiply X by a constant (for example 1e17)."
        )
    n_lost = int(np.count_nonzero((size_of * 2.0**-24 > _LOST * spread) & (spread > 0)))
    if given.dtype == np.float64 and n_lost:
        recorder.advise(
            who,
            "rounded to float32",
            f"{n_lost} columns are so far from zero, beside their spread, that float32 keeps "
            "little of it; subtract the means of the columns from X.",
            depth=1,
        )
    return np.ascontiguousarray(given, dtype=np.float32)
