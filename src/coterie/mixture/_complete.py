"""What fitting needs to know of rows with missing values beforehand: an overview, and a start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Source, as_source
from coterie.data.columns import column_words
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
    weights, sums = np.zeros(blocks.n_cols), np.zeros(blocks.n_cols)
    for rows, mass in _float_tiles(blocks):
        seen = ~np.isnan(rows)
        weights += mass @ seen
        with np.errstate(over="ignore", invalid="ignore"):  # `check_squares` tells of it
            sums += mass @ np.where(seen, rows, 0.0)
    if not weights.all():
        raise ValueError(
            f"{who}: {column_words(names, int(np.argmin(weights)))} of X holds no value but NaN "
            "(in rows with weight); leave it out."
        )
    mean = sums / weights
    scatter = np.zeros(blocks.n_cols if diagonal else (blocks.n_cols, blocks.n_cols))
    total = 0.0
    for rows, mass in _float_tiles(blocks):
        with np.errstate(over="ignore", invalid="ignore"):
            centred = np.where(np.isnan(rows), 0.0, rows - mean)
            weighted = centred * mass[:, np.newaxis]
            scatter += (weighted * centred).sum(axis=0) if diagonal else weighted.T @ centred
        total += float(mass.sum())
    share = np.sqrt(weights / total)
    scatter = scatter / share**2 if diagonal else scatter / share / share[:, np.newaxis]
    return Overview(total, mean, scatter, float(np.finfo(blocks.dtype).eps))


def _float_tiles(blocks: Source) -> Iterator[tuple[Floats, Floats]]:
    """Some rows at a time, as float64, with their weights."""
    for block in blocks:
        for start in range(0, block.n_rows, _TILE_ROWS):
            rows = np.asarray(block.rows[start : start + _TILE_ROWS], dtype=np.float64)
            weights = np.ones(rows.shape[0])
            if block.weights is not None:
                weights = block.weights[start : start + _TILE_ROWS]
            yield rows, weights


def completed(blocks: Source) -> Source:
    """The rows with every NaN replaced by the median of its column, where rows are kept.

    Medians count weights; of two values in the middle the lower is taken.
    """
    medians = np.array([_median(blocks, column) for column in range(blocks.n_cols)])
    filled = _like(blocks)
    for block in blocks:
        for start in range(0, block.n_rows, _TILE_ROWS):
            rows = block.rows[start : start + _TILE_ROWS]
            begin = block.start + start
            filled[begin : begin + rows.shape[0]] = np.where(np.isnan(rows), medians, rows)
    return as_source(filled, blocks.weights, blocks.n_threads)


def _median(blocks: Source, column: int) -> float:
    values = np.concatenate([block.rows[:, column] for block in blocks]).astype(np.float64)
    seen = ~np.isnan(values)
    if blocks.weights is not None:
        seen &= blocks.weights > 0
    values = values[seen]
    order = np.argsort(values, kind="stable")
    mass = np.ones(values.size) if blocks.weights is None else blocks.weights[seen][order]
    sums = np.cumsum(mass)
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)])


def _like(blocks: Source) -> npt.NDArray[Any]:
    """Room for the same rows: in memory, or on disk where they are there."""
    if blocks.in_memory:
        return np.empty((blocks.n_rows, blocks.n_cols), dtype=blocks.dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, blocks.dtype, "w+", shape=(blocks.n_rows, blocks.n_cols))
