"""What fitting needs to know of rows with missing values beforehand: an overview, and a start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import ArraySource, Block, Source
from coterie.data.columns import column_words
from coterie.mixture._medians import medians_by_passes
from coterie.mixture._overview import Overview

Floats = npt.NDArray[np.float64]

#: Rows handled at a time where a copy of them is made.
_TILE_ROWS = 1 << 16


def look_over_observed(
    who: str, blocks: Source, *, diagonal: bool = False, names: Sequence[str] | None = None
) -> Overview:
    """Weight, mean and scatter of the rows as far as they were observed.

    Means and variances are those of each column's values. Rows completed by the means have
    smaller covariances; these are divided by the weights of both columns' values, so that the
    whole stays positive semi-definite.
    """
    seen = blocks.total(sum_observed)
    if not seen.weights.all():
        raise ValueError(
            f"{who}: {column_words(names, int(np.argmin(seen.weights)))} of X holds no value but "
            "NaN (in rows with weight); leave it out."
        )
    mean = seen.sums / seen.weights
    scatter = blocks.total(scatter_observed, mean, diagonal)
    share = np.sqrt(seen.weights / seen.total)
    scatter = scatter / share**2 if diagonal else scatter / share / share[:, np.newaxis]
    return Overview(seen.total, mean, scatter, float(np.finfo(blocks.dtype).eps))


@dataclass(frozen=True)
class Observed:
    """Weight of each column's values, (d,), their weighted sums, and the weight of all rows."""

    weights: Floats
    sums: Floats
    total: float

    def __add__(self, other: Observed) -> Observed:
        return Observed(
            self.weights + other.weights, self.sums + other.sums, self.total + other.total
        )


def sum_observed(block: Block) -> Observed:
    """Sums of what a block has of values."""
    n_cols = int(block.rows.shape[1])
    weights, sums, total = np.zeros(n_cols), np.zeros(n_cols), 0.0
    for rows, mass in _float_tiles(block):
        seen = ~np.isnan(rows)
        weights += mass @ seen
        with np.errstate(over="ignore", invalid="ignore"):  # `check_squares` tells of it
            sums += mass @ np.where(seen, rows, 0.0)
        total += float(mass.sum())
    return Observed(weights, sums, total)


def scatter_observed(block: Block, mean: Floats, diagonal: bool) -> Floats:
    """The scatter of a block about a point, or its diagonal; what is missing is at the point."""
    n_cols = mean.size
    scatter = np.zeros(n_cols if diagonal else (n_cols, n_cols))
    for rows, mass in _float_tiles(block):
        with np.errstate(over="ignore", invalid="ignore"):
            centred = np.where(np.isnan(rows), 0.0, rows - mean)
            weighted = centred * mass[:, np.newaxis]
            scatter += (weighted * centred).sum(axis=0) if diagonal else weighted.T @ centred
    return scatter


def _float_tiles(block: Block) -> Iterator[tuple[Floats, Floats]]:
    """Some rows of a block at a time, as float64, with their weights."""
    for tile in block.parts(_TILE_ROWS):
        weights = np.ones(tile.n_rows) if tile.weights is None else tile.weights
        yield np.asarray(tile.rows, dtype=np.float64), weights


@dataclass(frozen=True)
class Fill:
    """Puts a value of its column in the place of every NaN, in a copy of the rows."""

    values: Floats

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        filled = np.array(rows, order="C")
        for column, value in zip(filled.T, self.values, strict=True):
            column[np.isnan(column)] = value
        return filled


def completed(blocks: Source) -> Source:
    """The rows with every NaN replaced by the median of its column.

    Medians count weights; of two values in the middle the lower is taken.
    """
    if isinstance(blocks, ArraySource):
        (block,) = blocks
        medians = [_median(column, block.weights) for column in block.rows.T]
        return blocks.through(Fill(np.array(medians)))
    return blocks.through(Fill(medians_by_passes(blocks)))


def _median(column: npt.NDArray[Any], weights: Floats | None) -> float:
    """The median of a column in memory."""
    values = column.astype(np.float64)
    seen = ~np.isnan(values)
    if weights is not None:
        seen &= weights > 0
    values = values[seen]
    order = np.argsort(values, kind="stable")
    mass = np.ones(values.size) if weights is None else weights[seen][order]
    sums = np.cumsum(mass)
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)])
