"""The coordinates a fit computes in: where zero is, how long one is, how sums are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Blocks

Floats = npt.NDArray[np.float64]

#: Bits a value may take on the grid: the kernel's rounding trick needs |value| < 2**51.
_VALUE_BITS = 50
#: Bits of the signed sum.
_SUM_BITS = 62
#: Bits each further limb adds below the grid; the kernel's `limb_bits`.
LIMB_BITS = 40


@dataclass(frozen=True)
class Columns:
    """Range, mean and spread of each column; `a + b` describes the rows of both."""

    n_rows: int
    min: Floats
    max: Floats
    mean: Floats
    sq_dev: Floats

    def __add__(self, other: Columns) -> Columns:
        n = self.n_rows + other.n_rows
        share = other.n_rows / n
        delta = other.mean - self.mean
        return Columns(
            n,
            np.minimum(self.min, other.min),
            np.maximum(self.max, other.max),
            self.mean + delta * share,
            self.sq_dev + other.sq_dev + delta * delta * (share * self.n_rows),
        )

    @property
    def finite(self) -> bool:
        """Whether no value was NaN or infinite."""
        return bool(np.isfinite(self.mean).all())

    @property
    def variance(self) -> Floats:
        """Population variance of each column."""
        return self.sq_dev / self.n_rows


@dataclass(frozen=True)
class Space:
    """What the kernels need to know of the data besides the rows.

    The *frame* (`scale`, `shift`) is where distances are computed: row x is seen as
    ``x * scale - shift``. The *grid* (`step_inverse`, `origin`, `limbs`) is where sums are kept:
    a value is rounded to the nearest ``step``, counted from ``origin`` steps. `total_scatter` is
    the weighted sum of squared distances to the grid's origin, in original units.
    """

    scale: float
    shift: npt.NDArray[Any]
    step_inverse: Floats
    origin: Floats
    limbs: int
    weight_unit: float
    weight_step_inverse: float
    wild: bool
    total_scatter: float

    def means(self, sums: npt.NDArray[np.int64], weight_sums: npt.NDArray[np.int64]) -> Floats:
        """Cluster means from integer sums; clusters without weight come out as NaN."""
        value = sums[-1].astype(np.float64)
        for limb in sums[-2::-1]:
            value = value * 2.0**-LIMB_BITS + limb
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = value / self.weights(weight_sums)[:, np.newaxis]
        return (mean + self.origin) / self.step_inverse

    def weights(self, weight_sums: npt.NDArray[np.int64]) -> Floats:
        """Cluster weights, in units of `weight_unit`."""
        return weight_sums / self.weight_step_inverse


def _power_of_two_at_least(value: npt.ArrayLike) -> Floats:
    """Exponents e with 2**e >= value; 0 for 0."""
    mantissa, exponent = np.frexp(np.asarray(value, dtype=np.float64))
    return np.where(mantissa == 0, 0, exponent).astype(np.float64)


def _is_wild(blocks: Blocks, columns: Columns, step: Floats) -> bool:
    """Whether some column's typical deviation is so far below its range that the grid would blur it.

    Judged on a few hundred evenly spaced rows: the smaller quartile of the deviations from the
    column's median, zeros left out, should span thousands of grid steps.
    """
    ids = np.unique(np.linspace(0, blocks.n_rows - 1, num=min(blocks.n_rows, 256)).astype(np.intp))
    rows = blocks.take(ids)
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.abs(rows - np.median(rows, axis=0))
    deviation[deviation == 0] = np.nan
    with np.errstate(all="ignore"):
        typical = np.full(blocks.n_cols, np.inf)
        some = np.isfinite(deviation).any(axis=0)
        typical[some] = np.nanquantile(deviation[:, some], 0.25, axis=0)
    return bool((typical < step * 2.0**14).any())


def _scatter_about(columns: Columns, point: Floats) -> float:
    """Sum of squared distances of all rows to a point; infinite where that overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float((columns.sq_dev + columns.n_rows * np.square(columns.mean - point)).sum())


def space_of(blocks: Blocks, columns: Columns) -> Space:
    """Choose frame and grid for these rows.

    The shift is the column mean, rounded to 2**-20 of the column's range so that it does not depend
    on how the rows were cut into blocks. Sparse rows and wild data are not shifted.
    """
    weights = blocks.weights
    weight_unit = 1.0 if weights is None else float(2.0 ** _power_of_two_at_least(weights.max()))
    row_bits = max(1, int(np.ceil(np.log2(blocks.n_rows + 1))))
    value_bits = min(_VALUE_BITS, _SUM_BITS - row_bits)
    weight_step_inverse = 1.0 if weights is None else 2.0 ** min(_VALUE_BITS, _SUM_BITS - row_bits)

    with np.errstate(over="ignore"):
        reach = np.maximum(np.abs(columns.min), np.abs(columns.max))
        spread = np.where(columns.max > columns.min, columns.max / 2 - columns.min / 2, 0.0)
    step = 2.0 ** (_power_of_two_at_least(2 * spread) - value_bits)
    wild = not blocks.sparse and _is_wild(blocks, columns, step)
    shifted = not (blocks.sparse or wild)

    if shifted:
        # At most twice the half-range from the mean; the step leaves a bit for that.
        exponent = _power_of_two_at_least(2 * spread) + 1
        coarse = 2.0 ** (exponent - 20)
        shift = np.where(spread > 0, np.round(columns.mean / coarse) * coarse, columns.min)
    else:
        exponent = _power_of_two_at_least(reach)
        shift = np.zeros(blocks.n_cols)
    step_inverse = 2.0 ** (value_bits - np.maximum(exponent, -900))
    limbs = 4 if wild else 1
    frame_exponent = float(np.max(_power_of_two_at_least(np.maximum(spread, 0)) + 1, initial=-900.0))
    if not shifted:
        frame_exponent = float(np.max(_power_of_two_at_least(reach), initial=-900.0))
    limit = 120 if blocks.dtype == np.float32 else 900
    scale = 2.0 ** float(np.clip(-frame_exponent, -limit, limit))
    return Space(
        scale=scale,
        shift=(shift * scale).astype(blocks.dtype),
        step_inverse=step_inverse,
        origin=shift * step_inverse,
        limbs=limbs,
        weight_unit=weight_unit,
        weight_step_inverse=weight_step_inverse,
        wild=wild,
        total_scatter=_scatter_about(columns, shift),
    )
