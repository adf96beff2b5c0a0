"""Neighbours one query at a time: where each pair is a call of Python, which is slow.

The same questions and the same arrays for the answers as those of the native index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric
from coterie.neighbors.spanning import prim

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class EachQuery:
    """Prepared rows under a metric that is a function."""

    def __init__(self, rows: npt.NDArray[Any], metric: Metric) -> None:
        self.rows = rows
        self.metric = metric

    def _lengths(self, queries: npt.NDArray[Any] | None) -> Iterator[tuple[int, Floats]]:
        """Every query with its distances to all rows."""
        for q, query in enumerate(self.rows if queries is None else queries):
            yield q, self.metric.lengths(query[np.newaxis], self.rows)[0]

    def knn(self, queries: Any, lengths: Floats, row_ids: Ints, n_threads: int) -> None:
        """The nearest rows by distance, then by row."""
        for q, found in self._lengths(queries):
            row_ids[q] = np.argsort(found, kind="stable")[: row_ids.shape[1]]
            lengths[q] = found[row_ids[q]]

    def kth_lengths(self, queries: Any, k: int, kth: Floats, mean: Floats, n_threads: int) -> None:
        """The k-th distance, and the mean of those up to it."""
        for q, found in self._lengths(queries):
            nearest = np.sort(found)[:k]
            kth[q], mean[q] = nearest[-1], nearest.sum() / max(1, k - (queries is None))

    def count_within(
        self, queries: Any, radius: float, weights: Floats | None, counts: Floats, n_threads: int
    ) -> None:
        """How many rows are within, or how much they weigh."""
        for q, found in self._lengths(queries):
            near = found <= radius
            counts[q] = near.sum() if weights is None else weights[near].sum()

    def list_within(
        self,
        queries: Any,
        radius: float,
        starts: Ints,
        row_ids: Ints,
        lengths: Floats,
        n_threads: int,
    ) -> None:
        """The rows that were counted."""
        for q, found in self._lengths(queries):
            ids = np.flatnonzero(found <= radius)
            counted = starts[q + 1] - starts[q]
            if ids.size != counted:
                raise ValueError(
                    f"within: metric={self.metric.name!r} gave query {q} {counted} neighbours, "
                    f"then {ids.size}; pass a function that always gives the same distance."
                )
            row_ids[starts[q] : starts[q + 1]] = ids
            lengths[starts[q] : starts[q + 1]] = found[ids]

    def spanning_tree(
        self, cores: Floats | None, heads: Any, tails: Any, lengths: Floats, n_threads: int
    ) -> None:
        """By Prim's algorithm."""

        def lengths_from(i: int) -> Floats:
            return self.metric.lengths(self.rows[i : i + 1], self.rows)[0]

        tree = prim(len(self.rows), lengths_from, cores)
        heads[:], tails[:], lengths[:] = tree.heads, tree.tails, tree.lengths

    def nearest_reachable(
        self,
        queries: Any,
        row_cores: Floats,
        query_cores: Floats,
        alpha: float,
        row_ids: Ints,
        lengths: Floats,
        n_threads: int,
    ) -> None:
        """The first of those at the least mutual reachability; equals by distance, then by row."""
        for q, found in self._lengths(queries):
            row_ids[q], lengths[q] = first_reached(found, row_cores, query_cores[q], alpha)


def first_reached(
    dists: Floats, row_cores: Floats, query_core: float, alpha: float
) -> tuple[int, float]:
    """Of one query: the row that it reaches first, and its mutual reachability."""
    with np.errstate(over="ignore"):
        reach = np.maximum(np.maximum(dists / alpha, query_core), row_cores)
    nearest = np.flatnonzero(reach == reach.min())
    row = nearest[dists[nearest].argmin()]
    return int(row), float(reach[row])
