"""Neighbours under a Python function: every pair is one call of it, which is slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def each_lengths(
    metric: Metric, rows: npt.NDArray[np.float64], queries: npt.NDArray[np.float64]
) -> Iterator[Floats]:
    """The distances of each query to all rows."""
    for query in queries:
        yield metric.lengths(query[np.newaxis], rows)[0]


def nearest(lengths: Floats, n_neighbors: int) -> Rows:
    """The nearest rows by distance, then by row."""
    return np.argsort(lengths, kind="stable")[:n_neighbors]
