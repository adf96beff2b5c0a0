"""The coordinates a fit computes in: where zero is, how long one is, how sums are rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data import Source

Floats = npt.NDArray[np.float64]

#: Bits a value may take on the grid: the kernel's rounding trick needs |value| < 2**51.
_VALUE_BITS = 50
#: Bits of the signed sum.
_SUM_BITS = 62
#: Bits each further limb adds below the grid; the kernel's `limb_bits`.
LIMB_BITS = 32
#: How many times finer than the values differ the grid should be, in bits.
_DETAIL_BITS = 14
#: Bits below the largest value of a column at which a grid ends: beyond all digits of float64.
_BITS_BELOW = 110
#: Values beyond this power of two are scaled down before many are added.
_LARGE_BITS = 1000
#: How many bits the weights may differ by before sums need more of them.
_WEIGHT_BITS = 8


class NotFiniteError(ValueError):
    """The rows hold NaN or infinity."""


@dataclass(frozen=True)
class Columns:
    """Range, mean and squared deviations of each column; `a + b` describes the rows of both."""

    n_rows: int
    min: Floats
    max: Floats
    mean: Floats
    sq_dev: Floats

    def __add__(self, other: Columns) -> Columns:
        n = self.n_rows + other.n_rows
        share = other.n_rows / max(1, n)
        delta = other.mean - self.mean
        return Columns(
            n,
            np.minimum(self.min, other.min),
            np.maximum(self.max, other.max),
            self.mean + delta * share,
            self.sq_dev + other.sq_dev + delta * delta * (share * self.n_rows),
        )

    @classmethod
    def of_nothing(cls, n_cols: int) -> Columns:
        """Of no rows at all."""
        none, zero = np.full(n_cols, np.inf), np.zeros(n_cols)
        return cls(0, none, -none, zero, zero)

    @property
    def finite(self) -> bool:
        """Whether no value was NaN or infinite."""
        return bool(np.isfinite(self.mean).all())

    @property
    def vary(self) -> bool:
        """Whether the rows are not all the same."""
        return bool((self.min < self.max).any())

    @property
    def variance(self) -> Floats:
        """Population variance of each column."""
        return self.sq_dev / self.n_rows


@dataclass(frozen=True)
class Space:
    """What the kernels need to know of the data besides the rows.

    The *frame* (`scale`, `shift`) is where distances are computed: row x is seen as
    ``x * scale - shift``. The *grid* (`step_inverse`, `origin`, `limbs`) is where sums are kept:
    a value is rounded to the nearest ``step``, counted from ``origin`` steps. Values times
    `sum_unit` can be added up without overflow. `total_scatter` is the weighted sum of squared
    distances to the grid's origin, in original units.
    """

    scale: float
    shift: npt.NDArray[Any]
    step_inverse: Floats
    origin: Floats
    limbs: int
    sum_unit: float
    weight_unit: float
    weight_step_inverse: float
    wild: bool
    total_scatter: float

    def means(self, sums: npt.NDArray[np.int64], weight_sums: npt.NDArray[np.int64]) -> Floats:
        """Cluster means from integer sums; clusters without weight come out as NaN."""
        means = _joined(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            means /= self.weights(weight_sums)[:, np.newaxis]
        means += self.origin
        means /= self.step_inverse
        return means

    def weights(self, weight_sums: npt.NDArray[np.int64]) -> Floats:
        """Cluster weights, in units of `weight_unit`."""
        return _joined(weight_sums) / self.weight_step_inverse


def _joined(limbs: npt.NDArray[np.int64]) -> Floats:
    """The numbers whose limbs these are, highest first."""
    value = limbs[-1].astype(np.float64)
    for limb in limbs[-2::-1]:
        value = value * 2.0**-LIMB_BITS + limb
    return value


def _power_of_two_at_least(value: npt.ArrayLike) -> Floats:
    """Exponents e with 2**e >= value; 0 for 0."""
    return np.frexp(np.asarray(value, dtype=np.float64))[1].astype(np.float64)


def _detail(blocks: Source) -> Floats:
    """How finely each column's values differ: the lower quartile of the gaps between them.

    Judged on some evenly spaced rows, fewer of wide ones; infinite for a column without gaps.
    """
    n_judged = min(blocks.n_rows, max(16, min(256, 2**14 // blocks.n_cols)))
    if n_judged == blocks.n_rows:
        ids = np.arange(n_judged)
    else:
        ids = distinct(np.linspace(0, blocks.n_rows - 1, num=n_judged).astype(np.intp))
    values = np.sort(blocks.take(ids), axis=0)
    if len(values) < 2:
        return np.full(blocks.n_cols, np.inf)
    gaps = values[1:] - values[:-1]
    gaps[~(gaps > 0)] = np.inf
    gaps.sort(axis=0)
    n_gaps = (gaps < np.inf).sum(axis=0)
    return np.asarray(gaps[n_gaps // 4, np.arange(blocks.n_cols)])


def _scatter_about(columns: Columns, point: Floats) -> float:
    """Sum of squared distances of all rows to a point; infinite where that overflows."""
    return float((columns.sq_dev + columns.n_rows * np.square(columns.mean - point)).sum())


def space_of(blocks: Source, columns: Columns, centers: Floats | None = None) -> Space:
    """Choose frame and grid for these rows, and for `centers` that may lie far from them.

    The shift is the column mean, rounded to 2**-20 of the column's range so that it does not depend
    on how the rows were cut into blocks. Sparse rows are not shifted, nor are wild ones: those with
    a column whose values differ too finely, beside its range, for a grid of one limb.
    """
    weights = blocks.weights
    weight_unit, weight_bits = 1.0, 0.0
    if weights is not None:
        weight_unit = float(2.0 ** np.minimum(_power_of_two_at_least(weights.max()), 1023))
        weight_bits = float(np.log2(weight_unit) - np.log2(weights[weights > 0].min()))
    row_bits = int(blocks.n_rows).bit_length()
    value_bits = min(_VALUE_BITS, _SUM_BITS - row_bits)

    reach = np.maximum(np.abs(columns.min), np.abs(columns.max))
    half_range = columns.max / 2 - columns.min / 2
    # The mean is at most twice the half-range from any value; one more bit pays for rounding it.
    exponent = _power_of_two_at_least(2 * half_range) + 1
    with np.errstate(divide="ignore", over="ignore"):
        fineness = np.zeros(1) if blocks.sparse else np.log2(2.0**exponent / _detail(blocks))
    detail_bits = max(0.0, float(fineness.max())) + _DETAIL_BITS
    wild = not blocks.sparse and detail_bits > value_bits
    if wild or blocks.sparse:
        exponent = _power_of_two_at_least(reach)
        shift = np.zeros(blocks.n_cols)
    else:
        coarse = 2.0 ** (exponent - 20)
        shift = np.where(half_range > 0, np.round(columns.mean / coarse) * coarse, columns.min)
    frame_exponent = float(exponent.max())
    if centers is not None:
        beyond = float(np.max(_power_of_two_at_least(centers - shift)))
        frame_exponent = max(frame_exponent, beyond)
    # Once one limb is too few, enough of them to lose nothing to speak of.
    missing_bits = max(0.0, weight_bits - _WEIGHT_BITS)
    if wild:
        missing_bits += detail_bits + _VALUE_BITS - value_bits
    if not math.isfinite(missing_bits):  # of a range that is beyond float64
        raise NotFiniteError
    limit = 120 if blocks.dtype == np.float32 else 900
    scale = 2.0 ** min(max(-frame_exponent, -limit), limit)
    finest = np.maximum(_power_of_two_at_least(reach) - _BITS_BELOW + value_bits, -900)
    step_inverse = 2.0 ** (value_bits - np.maximum(exponent, finest))
    return Space(
        scale=scale,
        shift=(shift * scale).astype(blocks.dtype),
        step_inverse=step_inverse,
        origin=shift * step_inverse,
        limbs=1 + math.ceil(missing_bits / LIMB_BITS),
        sum_unit=1.0 if reach.max() < 2.0**_LARGE_BITS else 2.0 ** (_LARGE_BITS - 1024),
        weight_unit=weight_unit,
        weight_step_inverse=1.0 if weights is None else 2.0**value_bits,
        wild=wild,
        total_scatter=_scatter_about(columns, shift),
    )
