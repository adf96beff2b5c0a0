"""Standardising columns in the stream: learned in one pass, applied to every block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data.columns import column_words
from coterie.data.source import Block, Source
from coterie.errors import DataError

Floats = npt.NDArray[np.float64]
#: "mean" and "scale" of each column, applied as ``(X - mean) / scale``.
Scaling = dict[str, Floats]

#: Values handled in one go.
_BATCH_VALUES = 1 << 16
#: Values of a window whose moments are added to those of the next.
_WINDOW_VALUES = 1 << 21
#: Values whose squares can be added up.
_LARGE = 1e140
#: Deviations below so many roundings of the mean are none.
_ROUNDINGS = 10 * float(np.finfo(np.float64).eps)


def standardized(values: npt.NDArray[Any], scaling: Scaling | None) -> npt.NDArray[Any]:
    """``(values - mean) / scale`` in the precision of `values`; without a scaling, the values."""
    if scaling is None:
        return values
    scaled = np.empty(values.shape, dtype=values.dtype)
    step = max(1, _BATCH_VALUES // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        batch = slice(start, start + step)
        scaled[batch] = (values[batch] - scaling["mean"]) / scaling["scale"]
    return scaled


@dataclass(frozen=True)
class Standardising:
    """The function of rows that standardises them."""

    scaling: Scaling

    def __call__(self, rows: Any) -> Any:
        if not isinstance(rows, np.ndarray):
            raise DataError("sparse rows cannot be standardised; pass X.toarray() or leave scale=.")
        return standardized(rows, self.scaling)


def scaled_as(source: Source, scaling: Scaling) -> Source:
    """The rows of a source under this scaling, whatever theirs is."""
    source = source.unscaled or source
    scaled = source.through(Standardising(scaling))
    if not source.in_memory:
        scaled.scaling, scaled.unscaled = scaling, source
    return scaled


def learn_scaling(source: Source) -> Scaling:
    """Mean and population standard deviation of each column, cells that are NaN left out.

    One pass. The rows are taken in windows of one size, so that how they are cut into files or
    blocks changes no bit; those of a cluster as they are cut, where they are. A constant column has
    scale 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow shows in the result
        total = source.total(block_moments) if source.remote else _moments_of_windows(source)
        variance = total.sq_dev / np.maximum(total.n_known, 1)
    for place in np.flatnonzero(~np.isfinite(total.mean) | ~np.isfinite(variance)).tolist():
        raise DataError(
            f"{source}: {column_words(source.names, place)} has values that are infinite or too "
            "large to be squared, so it has no standard deviation; divide it or leave scale=None."
        )
    scale = np.sqrt(variance)
    return {
        "mean": total.mean,
        "scale": np.where(scale <= _ROUNDINGS * np.abs(total.mean), 1.0, scale),
    }


@dataclass(frozen=True)
class Moments:
    """How many cells of each column are known, their mean and squared deviations; `+` adds rows."""

    n_known: Floats
    mean: Floats
    sq_dev: Floats

    def __add__(self, other: Moments) -> Moments:
        n = self.n_known + other.n_known
        share = other.n_known / np.maximum(n, 1)
        delta = other.mean - self.mean
        return Moments(
            n, self.mean + delta * share,
            self.sq_dev + other.sq_dev + delta * delta * (share * self.n_known),
        )  # fmt: skip


def _moments_of_windows(source: Source) -> Moments:
    """Of all rows, which come here."""
    window_rows = max(1, _WINDOW_VALUES // max(1, source.n_cols))
    total = None
    for window in source.windows(window_rows):
        here = _moments(window.rows, source.n_threads)
        total = here if total is None else total + here
    if total is None:
        raise DataError(f"{source} has no rows; pass at least one.")
    return total


def block_moments(block: Block) -> Moments:
    """Of the rows of a block, where it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _moments(block.rows, block.n_threads)


def _moments(rows: npt.NDArray[Any], n_threads: int) -> Moments:
    """Of some rows in memory."""
    n_cols = rows.shape[1]
    found = np.empty((4, n_cols))
    n_rows = kernels.column_stats(rows, found, n_threads)
    if np.isfinite(found[2]).all() and np.abs(found[:2]).max() < _LARGE:
        return Moments(np.full(n_cols, float(n_rows)), found[2], found[3])
    values = rows.astype(np.float64)
    known = ~np.isnan(values)
    n_known = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    sq_dev = np.square(np.where(known, values - mean, 0.0)).sum(axis=0)
    return Moments(n_known, mean, sq_dev)
