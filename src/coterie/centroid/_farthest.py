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

    Rows by number cost O(n d) each at most, a quarter of it where clusters are weak, and 12 bytes a
    row; CSR rows O(n d) and the memory of `SeedDistances`; rows that only come by cost a pass each,
    which looks at all rows taken so far.
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
    """By a pass for every row, which looks at all rows taken so far."""
    centers = blocks.take([first])
    while True:
        found = blocks.total(find_farthest, ByCenters(centers, space), centers, 1)
        if found.rows.size == 0:
            return
        values = found.values.astype(np.float64)
        yield Far(int(found.rows[0]), values, float(np.sqrt(found.dists[0]) / space.scale))
        centers = np.concatenate([centers, values])


def spare_rows(blocks: Source, taken: npt.ArrayLike, size: int) -> Ints:
    """The first rows that are not taken; those without weight come last."""
    free = np.ones(blocks.n_rows) if blocks.weights is None else 1.0 + (blocks.weights > 0)
    free[np.asarray(taken, dtype=np.int64)] = 0.0
    return np.argsort(-free, kind="stable")[:size]
