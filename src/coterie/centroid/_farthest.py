"""Rows that are far from each other: the farthest of all, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._seed_distances import scratch, seed_distances
from coterie.centroid._space import Space
from coterie.centroid._streamed import ByCenters, find_farthest
from coterie.data import RowsByNumber, Source

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Far:
    """A row, its values, and its distance from the nearest row taken before."""

    row: int
    values: Floats
    distance: float


def farthest_rows(blocks: Source, space: Space, first: int) -> Iterator[Far]:
    """The row farthest from `first`, then the one farthest from both, and so on.

    Gonzalez (1985), with Euclidean distances; ties go to the lower row. A row is taken when the
    next one is asked for. Ends where all rows left are copies of those taken, or have no weight.

    Rows by number cost O(n d) each at most, a quarter of it where clusters are weak, and 12 bytes
    per row, and so do rows that only come by, in a pass each; CSR rows cost O(n d) and the memory
    of `SeedDistances`. On a cluster, and for CSR rows that come by, each pass looks at all rows
    taken so far.
    """
    if not isinstance(blocks, RowsByNumber):
        return _of_stream(blocks, space, first)
    return _of_sparse(blocks, space, first) if blocks.sparse else _of_kept(blocks, space, first)


def _of_kept(blocks: RowsByNumber, space: Space, first: int) -> Iterator[Far]:
    """By bounds of the distance of every row to the nearest row taken, kept where they serve."""
    sq_dists = scratch(blocks, np.float64, blocks.n_rows)
    n_seen = scratch(blocks, np.int32, blocks.n_rows)
    tops = np.full(kernels.n_far_blocks(blocks.n_rows), np.inf)
    sq_dists[:] = np.inf
    centers = blocks.take([first])
    while True:
        row, sq_dist = kernels.find_farthest(
            blocks.rows, blocks.weights, space.scale, centers, sq_dists, n_seen, tops,
            blocks.n_threads,
        )  # fmt: skip
        if row < 0:
            return
        values = blocks.take([row])
        yield Far(row, values, float(np.sqrt(sq_dist) / space.scale))
        centers = np.concatenate([centers, values])


def _of_sparse(blocks: RowsByNumber, space: Space, first: int) -> Iterator[Far]:
    """By the distance of every row to the nearest row taken, kept up to date."""
    dists, row = seed_distances(blocks, space), first
    while True:
        dists.add(np.array([row]))
        far = dists.closest
        if blocks.weights is not None:
            far = np.where(blocks.weights > 0, far, 0.0)
        row = int(np.argmax(far))
        if not far[row] > 0:
            return
        yield Far(row, blocks.take([row]), float(np.sqrt(far[row]) / space.scale))


def _of_stream(blocks: Source, space: Space, first: int) -> Iterator[Far]:
    """By a pass for every row; bounds are kept of each block, unless blocks are with others."""
    kept = None if blocks.remote or blocks.sparse else _KeptBounds(blocks.n_rows)
    centers = blocks.take([first])
    while True:
        if kept is None:
            found = blocks.total(find_farthest, ByCenters(centers, space), centers, 1)
            if found.rows.size == 0:
                return
            row, values = int(found.rows[0]), found.values.astype(np.float64)
            sq_dist = found.dists[0]
        else:
            row, sq_dist, values = kept.farthest(blocks, space, centers)
            if row < 0:
                return
        yield Far(row, values, float(np.sqrt(sq_dist) / space.scale))
        centers = np.concatenate([centers, values])


class _KeptBounds:
    """What is known of the distance of every row of a stream to the rows taken."""

    def __init__(self, n_rows: int) -> None:
        self._sq_dists = np.full(n_rows, np.inf)
        self._n_seen = np.zeros(n_rows, dtype=np.int32)
        self._tops: dict[int, Floats] = {}

    def farthest(
        self, blocks: Source, space: Space, centers: Floats
    ) -> tuple[int, float, npt.NDArray[np.float64]]:
        """The row farthest from the centres, how far, squared and in the space, and its values."""
        best, values = (-1, 0.0), np.empty((1, blocks.n_cols))
        for block in blocks:
            if block.start not in self._tops:
                self._tops[block.start] = np.full(kernels.n_far_blocks(block.n_rows), np.inf)
            row, sq_dist = kernels.find_farthest(
                block.rows, block.weights, space.scale, centers, self._sq_dists[block.span],
                self._n_seen[block.span], self._tops[block.start], block.n_threads,
            )  # fmt: skip
            if sq_dist > best[1]:
                best, values = (block.start + row, sq_dist), np.array(block.rows[row : row + 1])
        return *best, values.astype(np.float64)


def spare_rows(blocks: Source, taken: npt.ArrayLike, size: int) -> Ints:
    """The first rows that are not taken; those without weight come last."""
    free = np.ones(blocks.n_rows) if blocks.weights is None else 1.0 + (blocks.weights > 0)
    free[np.asarray(taken, dtype=np.int64)] = 0.0
    return np.argsort(-free, kind="stable")[:size]
