"""One pass over the rows of a block for each thing k-means asks, dense or sparse alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._space import Columns, NotFiniteError, Space, space_of
from coterie.data import Block, Source

#: Rows at a time where a pass needs scratch for each.
_PART_ROWS = 1 << 12

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def survey(block: Block) -> Columns:
    """Describe the columns of a block."""
    out = np.empty((4, block.rows.shape[1]))
    n_rows = kernels.column_stats(block.rows, out, block.n_threads)
    return Columns(n_rows, *out)


def unit_weights(block: Block, space: Space) -> Floats | None:
    """The weights of a block's rows, none above one; None where all are one."""
    return None if block.weights is None else block.weights / space.weight_unit


@dataclass(frozen=True)
class ClusterSums:
    """What the rows nearest to each centre sum to, on the grid of a space; `+` adds more rows.

    `sums` (limbs, k, d), `weight_sums` (limbs, k) and how many rows, `n_rows` (k,): integers, so
    that neither cuts nor order matter.
    """

    sums: Ints
    weight_sums: Ints
    n_rows: Ints

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(
            self.sums + other.sums, self.weight_sums + other.weight_sums, self.n_rows + other.n_rows
        )


def sum_nearest(block: Block, centers: Floats, space: Space) -> ClusterSums:
    """Give every row of a block to its nearest centre, and sum up the clusters."""
    n_clusters, n_cols = centers.shape
    labels = np.full(block.n_rows, -1, dtype=np.int32)
    found = ClusterSums(
        np.zeros((space.limbs, n_clusters, n_cols), dtype=np.int64),
        np.zeros((space.limbs, n_clusters), dtype=np.int64),
        np.empty(n_clusters, dtype=np.int64),
    )
    weights = unit_weights(block, space)
    kernels.assign_and_sum(block.rows, weights, centers, space, labels, found, block.n_threads)
    kernels.count_labels(labels, found.n_rows)
    return found


def assign(blocks: Source, centers: Floats, space: Space) -> Labels:
    """The nearest centre of every row; ties go to the lower index."""
    return blocks.map(label_rows, centers, space, dtype=np.int32)


def label_rows(block: Block, centers: Floats, space: Space, labels: Labels) -> None:
    """Fill in the nearest centre of every row of a block."""
    kernels.assign(block.rows, centers, space, labels, block.n_threads)


def labels_of(block: Block, centers: Floats, space: Space) -> Labels:
    """The nearest centre of every row of a block."""
    labels = np.empty(block.n_rows, dtype=np.int32)
    label_rows(block, centers, space, labels)
    return labels


def sum_sq_dists(blocks: Source, centers: Floats, space: Space) -> float:
    """Weighted sum of squared distances of the rows to their nearest centres."""
    return blocks.total(sse_of_nearest, centers, space)


def sse_of_nearest(block: Block, centers: Floats, space: Space) -> float:
    """The same of the rows of a block."""
    return sq_dists(block, centers, space, labels_of(block, centers, space))


def farthest_of(
    block: Block, centers: Floats, space: Space, labels: Labels, n_wanted: int
) -> tuple[Ints, Floats]:
    """The rows of a block farthest from the centres of their labels, and how far, squared.

    Farthest first, ties to the lower row. Rows on their centre and rows without weight are left
    out. Memory: some 100 kB.
    """
    rows, dists = np.empty(0, dtype=np.int64), np.empty(0)
    beyond = 0.0  # only rows farther than this can still be among them
    for part in block.parts(_PART_ROWS):
        here = np.empty(part.n_rows)
        begin = part.start - block.start
        sq_dists(part, centers, space, labels[begin : begin + part.n_rows], here)
        if part.weights is not None:
            here[part.weights == 0] = 0.0
        farther = np.flatnonzero(here > beyond)
        rows = np.concatenate([rows, farther + part.start])
        dists = np.concatenate([dists, here[farther]])
        best = np.argsort(-dists, kind="stable")[:n_wanted]  # rows are in order where dists tie
        rows, dists = rows[best], dists[best]
        if rows.size == n_wanted:
            beyond = float(dists[-1])
    return rows, dists


def sq_dists(
    block: Block, centers: Floats, space: Space, labels: Labels, into: Floats | None = None
) -> float:
    """Weighted sum of squared distances; each row's own, times scale^2, goes `into` an array."""
    total = kernels.sum_sq_dists(
        block.rows, block.weights, centers, space.scale, labels, into, block.n_threads
    )
    return total / space.scale / space.scale


def row_counts(labels: Labels, n_clusters: int) -> Ints:
    """How many rows have each label."""
    counts = np.empty(n_clusters, dtype=np.int64)
    kernels.count_labels(labels, counts)
    return counts


def few_means(
    block: Block, space: Space, labels: Labels, few: npt.NDArray[np.bool_], means: Floats
) -> None:
    """Put the correctly rounded mean of every cluster that is `few` into its row of `means`."""
    weights = unit_weights(block, space)
    kernels.few_means(block.rows, weights, labels, few, space.sum_unit, means, block.n_threads)


def dists_of(block: Block, centers: Floats, space: Space, dists: npt.NDArray[Any]) -> None:
    """Fill in the distance of every row of a block to every centre."""
    kernels.all_dists(block.rows, centers, space.scale, dists, block.n_threads)


@np.errstate(over="ignore", invalid="ignore")
def choose_space(blocks: Source, centers: Floats | None = None) -> tuple[Columns, Space]:
    """Look at the columns once and choose the coordinates to compute in; see `space_of`.

    What overflows is for the caller to find in them.
    """
    columns = blocks.total(survey)
    if not columns.finite:
        raise NotFiniteError(
            "X holds values that are not finite; if it did not when the fit began, it was changed "
            "meanwhile: pass a copy."
        )
    space = space_of(blocks, columns, centers)
    if blocks.weights is not None:
        origin = (space.origin / space.step_inverse)[np.newaxis]
        space = replace(space, total_scatter=sum_sq_dists(blocks, origin, space))
    return columns, space
