"""Medians of the columns of rows that only come by: found digit by digit, a pass each.

Floats of one type have bits that, read as whole numbers with the sign turned over, are in the same
order. A pass counts the digits of those numbers that begin like the median, as far as that is
known; the digit in the middle is its next one. So the median is exact after a few passes, and what
is kept are counts, however many rows there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block, Source

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[Any]

#: Counts that are kept of all columns together, at most, and the bits of the largest digit.
_MOST_COUNTS = 1 << 20
_MOST_BITS = 16


def medians_by_passes(source: Source) -> Floats:
    """The lower median of every column, NaN and rows without weight left out; weights count.

    Takes 2 passes for float32 and 4 for float64, more where there are more than 16 columns.
    Columns must have a value.
    """
    n_bits = 8 * source.dtype.itemsize
    step = int(np.clip(np.log2(_MOST_COUNTS / source.n_cols), 4, _MOST_BITS))
    kind = np.dtype(f"u{source.dtype.itemsize}")
    prefix = np.zeros(source.n_cols, dtype=kind)
    below = np.zeros(source.n_cols)
    half: Floats | None = None
    left = n_bits
    while left:
        width = min(step, left)
        left -= width
        sums = np.cumsum(source.total(count_digits, prefix, left, width), axis=1)
        if half is None:
            half = sums[:, -1] / 2
        reached = below[:, np.newaxis] + sums >= half[:, np.newaxis]
        # Weights may be rounded otherwise than their half: then it is the last that there is.
        reached |= ~reached.any(axis=1, keepdims=True) & (sums >= sums[:, -1:])
        digits = np.argmax(reached, axis=1)
        before = np.maximum(digits - 1, 0)
        own = np.take_along_axis(sums, before[:, np.newaxis], axis=1)[:, 0]
        below = below + np.where(digits > 0, own, 0.0)
        prefix = (prefix << kind.type(width)) | digits.astype(kind)
    return _floats(prefix).astype(np.float64)


def count_digits(block: Block, prefix: Codes, shift: int, width: int) -> Floats:
    """Weights of the values of each column that begin with `prefix`, by their next digit.

    A digit has `width` bits, behind which there are `shift` more. Shape (d, 2^width).
    """
    kind = prefix.dtype.type
    counts = np.zeros((prefix.size, 1 << width))
    known = shift + width < 8 * prefix.dtype.itemsize
    weighs = None if block.weights is None else block.weights > 0
    for c, start in enumerate(prefix):
        column = np.asarray(block.rows[:, c])
        seen = ~np.isnan(column)
        if weighs is not None:
            seen &= weighs
        codes = _codes(column)
        if known:
            seen &= codes >> kind(shift + width) == start
        digits = (codes[seen] >> kind(shift)) & kind((1 << width) - 1)
        weights = None if block.weights is None else block.weights[seen]
        counts[c] = np.bincount(digits.astype(np.intp), weights, minlength=1 << width)
    return counts


def _codes(values: npt.NDArray[Any]) -> Codes:
    """Whole numbers in the order of the floats."""
    kind = np.dtype(f"u{values.itemsize}")
    bits = np.ascontiguousarray(values + values.dtype.type(0)).view(kind)  # -0 as 0
    top = kind.type(1 << (8 * values.itemsize - 1))
    return np.where(bits & top, ~bits, bits | top)


def _floats(codes: Codes) -> npt.NDArray[Any]:
    """The floats of these numbers."""
    top = codes.dtype.type(1 << (8 * codes.itemsize - 1))
    bits = np.where(codes & top, codes & ~top, ~codes).astype(codes.dtype)
    return bits.view(f"f{codes.itemsize}")
