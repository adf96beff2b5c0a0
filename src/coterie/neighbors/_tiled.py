"""Neighbours of CSR rows by a scan of them: a tile at a time is made dense and asked.

The same questions and the same arrays for the answers as those of the native index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.distance import Compared, Metric, SparseRows, in_tiles

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class TiledRows:
    """CSR rows under a metric of the kernels; only trees need all of them dense."""

    def __init__(self, who: str, rows: SparseRows, metric: Metric) -> None:
        assert metric.native is not None  # functions have an index of their own
        self.who, self.rows, self._native = who, rows, metric.native

    def _asked(self, queries: Compared | None) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
        return in_tiles(self.rows if queries is None else queries)

    def _tiles(self, n_threads: int) -> Iterator[tuple[slice, Any]]:
        """Which rows are in each tile, and an index of these."""
        for part, tile in self.rows.tiles():
            yield part, kernels.Index(tile, self._native, False, n_threads)

    def _nearest(self, asking: npt.NDArray[Any], k: int, n_threads: int) -> tuple[Floats, Ints]:
        """The nearest of all tiles by distance, then by row, as tiles come in that order."""
        dists, ids = np.empty((len(asking), 0)), np.empty((len(asking), 0), dtype=np.int64)
        for part, index in self._tiles(n_threads):
            here = np.empty((len(asking), min(k, part.stop - part.start)))
            here_ids = np.empty(here.shape, dtype=np.int64)
            index.knn(asking, here, here_ids, n_threads)
            dists, ids = np.hstack([dists, here]), np.hstack([ids, here_ids + part.start])
            first = np.argsort(dists, axis=1, kind="stable")[:, :k]
            dists = np.take_along_axis(dists, first, axis=1)
            ids = np.take_along_axis(ids, first, axis=1)
        return dists, ids

    def knn(self, queries: Any, lengths: Floats, row_ids: Ints, n_threads: int) -> None:
        """The nearest rows by distance, then by row."""
        for q, asking in self._asked(queries):
            lengths[q], row_ids[q] = self._nearest(asking, row_ids.shape[1], n_threads)

    def kth_lengths(self, queries: Any, k: int, kth: Floats, mean: Floats, n_threads: int) -> None:
        """The k-th distance, and the mean of those up to it."""
        for q, asking in self._asked(queries):
            dists, _ = self._nearest(asking, k, n_threads)
            kth[q], mean[q] = dists[:, -1], dists.sum(axis=1) / max(1, k - (queries is None))

    def count_within(
        self, queries: Any, radius: float, weights: Floats | None, counts: Floats, n_threads: int
    ) -> None:
        """How many rows are within, or how much they weigh."""
        counts[:] = 0
        for q, asking in self._asked(queries):
            for part, index in self._tiles(n_threads):
                here = np.empty(len(asking))
                own = None if weights is None else weights[part]
                index.count_within(asking, radius, own, here, n_threads)
                counts[q] += here

    def list_within(
        self,
        queries: Any,
        radius: float,
        starts: Ints,
        row_ids: Ints,
        lengths: Floats,
        n_threads: int,
    ) -> None:
        """The rows that were counted: those of each tile behind those of the tiles before."""
        for q, asking in self._asked(queries):
            free = starts[q].copy()
            for part, index in self._tiles(n_threads):
                counts = np.empty(len(asking))
                index.count_within(asking, radius, None, counts, n_threads)
                here = np.zeros(len(asking) + 1, dtype=np.int64)
                here[1:] = np.cumsum(counts)
                ids, dists = np.empty(here[-1], dtype=np.int64), np.empty(here[-1])
                index.list_within(asking, radius, here, ids, dists, n_threads)
                place = np.arange(here[-1]) + np.repeat(free - here[:-1], np.diff(here))
                row_ids[place], lengths[place] = ids + part.start, dists
                free += np.diff(here)

    def spanning_tree(
        self, cores: Floats | None, heads: Any, tails: Any, lengths: Floats, n_threads: int
    ) -> None:
        """By the native index of all rows, made dense."""
        self._whole(n_threads).spanning_tree(cores, heads, tails, lengths, n_threads)

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
        """By the native index of all rows, made dense."""
        index = self._whole(n_threads)
        for q, asking in in_tiles(queries):
            given = (row_cores, query_cores[q], alpha, row_ids[q], lengths[q], n_threads)
            index.nearest_reachable(asking, *given)

    def _whole(self, n_threads: int) -> Any:
        return kernels.Index(self.rows.whole(self.who), self._native, False, n_threads)
