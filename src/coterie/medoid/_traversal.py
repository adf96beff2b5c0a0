"""Farthest-first traversal under any metric: always the row farthest from all rows taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._farthest import Far, spare_rows
from coterie.data import Block, Source
from coterie.distance import Metric
from coterie.medoid._nearest import KnownMedoids, nearest_medoids

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Traversal:
    """Rows in the order they were taken, and the covering radius after each."""

    indices: Ids
    radii: Floats


def traverse(blocks: Source, n_centers: int, first: int, farthest: Iterator[Far]) -> Traversal:
    """Take `first` and the rows that `farthest` finds; where it ends, copies of them.

    The row that is found after the last one is not taken: its distance is the last radius.
    """
    found = list(islice(farthest, n_centers))
    indices = np.array([first, *(far.row for far in found)], dtype=np.int64)[:n_centers]
    radii = np.zeros(n_centers)
    radii[: len(found)] = [far.distance for far in found]
    spare = spare_rows(blocks, indices, n_centers - indices.size)
    return Traversal(np.concatenate([indices, spare]), radii)


def farthest_by_lengths(
    who: str, first: int, values: npt.NDArray[Any], lengths_from: Callable[[int], Floats]
) -> Iterator[Far]:
    """By the distances of one row to all, which `lengths_from` knows; O(n) memory."""
    row = first
    nearest = np.full(values.shape[0], np.inf)
    while True:
        lengths = lengths_from(row)
        if not np.isfinite(lengths).all():
            raise without_distance(who, row, int(np.argmin(np.isfinite(lengths))))
        np.minimum(nearest, lengths, out=nearest)
        nearest[row] = 0.0  # also where a metric says otherwise
        row = int(np.argmax(nearest))
        if not nearest[row] > 0:
            return
        yield Far(row, values[row : row + 1], float(nearest[row]))


def without_distance(who: str, row: int, other: int) -> ValueError:
    """What to say of two rows without a distance."""
    return ValueError(
        f"{who}: rows {row} and {other} have no finite distance; leave such rows out, or fill in "
        "what they miss."
    )


def farthest_by_passes(blocks: Source, metric: Metric, first: int) -> Iterator[Far]:
    """By a pass for every row taken; 8 bytes per row remember the distances to those before.

    Where blocks are with other processes they look at all rows taken so far instead.
    """
    taken = blocks.pick([first]).rows
    nearest = None if blocks.remote else np.full(blocks.n_rows, np.inf)
    while True:
        if nearest is None:
            known = KnownMedoids(metric, np.asarray(metric.prepare(taken)))
            found = blocks.total(find_farthest_by, known)
        else:
            known = KnownMedoids(metric, np.asarray(metric.prepare(taken[-1:])))
            found = blocks.total(find_farthest_by, known, nearest)
        if not found.distance > 0:
            return
        yield Far(found.row, found.values, found.distance)
        taken = np.concatenate([_dense(taken), found.values])


@dataclass(frozen=True)
class Farthest:
    """The farthest row of some blocks; of `a + b` the farther, ties to the earlier."""

    row: int
    values: npt.NDArray[Any]
    distance: float

    def __add__(self, other: Farthest) -> Farthest:
        return other if other.distance > self.distance else self


def find_farthest_by(block: Block, known: KnownMedoids, before: Floats | None = None) -> Farthest:
    """The row of a block that is farthest from the known rows, and from those before them.

    `before` holds the distances of all rows to the latter, and is brought up to date.
    """
    rows = known.metric.prepare_tiles(block.rows)
    _, nearest = nearest_medoids(known, rows, block.n_threads)
    if before is not None:
        nearest = np.minimum(before[block.span], nearest, out=before[block.span])
    if not np.isfinite(nearest).all():
        row = block.start + int(np.argmin(np.isfinite(nearest)))
        raise ValueError(
            f"{known.metric.name}: row {row} has no finite distance to the rows taken; leave such "
            "rows out, or fill in what they miss."
        )
    at = int(np.argmax(nearest))
    values = np.array(_dense(block.rows[at : at + 1]))
    return Farthest(block.start + at, values, float(nearest[at]))


def _dense(rows: Any) -> npt.NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


#: Metrics that obey the triangle inequality, and those that are squares of such.
_METRIC = {
    "euclidean", "seuclidean", "mahalanobis", "manhattan", "chebyshev", "minkowski", "canberra",
    "haversine", "hamming", "jaccard", "rogerstanimoto",
}  # fmt: skip
_SQUARED = {"sqeuclidean", "cosine", "correlation"}


def optimum_at_least(name: str, radius: float) -> float | None:
    """What no choice of so many centres can have a smaller covering radius than.

    The centres and the row that is farthest from them are one row more than centres, each at least
    `radius` from each other; two of them share one of the best centres, so that is radius / 2 from
    one of them by the triangle inequality. For squares of a metric it is a quarter. None: of this
    metric neither is known.
    """
    if name in _METRIC:
        return radius / 2
    return radius / 4 if name in _SQUARED else None
