"""Rows times a power of two, where squares of their differences would overflow or vanish."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric

Floats = npt.NDArray[np.float64]

#: Metrics that double when rows double, with the power that coordinates are raised to.
_POWERS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": 1.0}
#: Binary exponents that may appear in such powers; the rest is left for sums and for precision.
_LARGEST_EXPONENT = 900


def exponent_for(metric: Metric, *tables: npt.NDArray[Any]) -> int:
    """The exponent to take out of rows; 0 for all but extreme ones, whose bits so stay.

    A power of two changes no digit, so the distances are those of the rows to the last bit.
    """
    if metric.native is None:
        return 0
    power = metric.native[1] if metric.name == "minkowski" else _POWERS.get(metric.name)
    largest = max((max(-float(t.min()), float(t.max())) for t in tables if t.size), default=0.0)
    if power is None or largest == 0:
        return 0
    exponent = math.frexp(largest)[1]
    return exponent if abs(exponent) * power > _LARGEST_EXPONENT else 0


def scale_down(rows: npt.NDArray[Any], exponent: int) -> npt.NDArray[Any]:
    """Rows without that exponent."""
    return np.ldexp(rows, -exponent) if exponent else rows


def scale_up(heights: Floats, exponent: int) -> None:
    """Heights with that exponent again, in place; beyond float64 they are infinite."""
    if exponent:
        with np.errstate(over="ignore"):
            np.ldexp(heights, exponent, out=heights)
