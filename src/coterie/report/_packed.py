"""Columns of numbers in few characters, exact where decimals are short.

A page of 100 000 rows has to stay small. What a file writes with few decimals is kept as whole
numbers of that many decimals, which give the same number back; the rest as floating point.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: A column as the page reads it: `dtype`, `data` (base64, little-endian), `scale` (see below).
Packed = dict[str, Any]

#: Whole numbers, the least of which stands for a missing cell.
_WHOLE = ("i1", "i2", "i4")
#: Decimals that are looked for.
_MOST_DECIMALS = 6
#: Rows up to which other numbers keep all their digits; beyond it they keep seven.
_FULL_ROWS = 20_000


def packed(values: Sequence[float | None] | npt.NDArray[Any]) -> Packed:
    """The numbers of a column, None for a missing one, as text.

    A number is `data / scale` where `scale` is not 0, else `data` itself.
    """
    numbers = np.asarray(values, dtype=np.float64)
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10**decimals
        whole = _whole(numbers, scale)
        if whole is not None:
            return _text(whole, scale)
    return _text(numbers.astype("<f8" if len(numbers) <= _FULL_ROWS else "<f4"), 0)


def coordinates(values: Sequence[float] | npt.NDArray[Any]) -> Packed:
    """Places on a drawing, for which seven digits are enough."""
    return _text(np.asarray(values, dtype="<f4"), 0)


def _whole(numbers: Floats, scale: int) -> npt.NDArray[Any] | None:
    """Whole numbers that divided by `scale` give the numbers again; None where there are none."""
    there = ~np.isnan(numbers)
    with np.errstate(over="ignore"):
        times = np.round(numbers[there] * scale)
    if not np.array_equal(times / scale, numbers[there]):
        return None
    for dtype in _WHOLE:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not times.size or (times.min() > least and times.max() <= most):
            whole = np.full(len(numbers), least, dtype=f"<{dtype}")
            whole[there] = times
            return whole
    return None


def _text(numbers: npt.NDArray[Any], scale: int) -> Packed:
    data = b64encode(numbers.tobytes()).decode("ascii")
    return {"dtype": numbers.dtype.str[1:], "scale": scale, "data": data}
