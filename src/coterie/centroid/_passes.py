"""One pass over the rows of a block for each thing k-means asks, dense or sparse alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._space import Columns, NotFiniteError, Space, space_of
from coterie.data import Block, Blocks

if TYPE_CHECKING:
    from coterie.centroid._tally import Tally

#: Rows at a time where a pass needs scratch for each.
_PART_ROWS = 1 << 12
#: Labels looked at a time, and values gathered from disk a time, for means of few rows.
_SCAN_ROWS, _FEW_VALUES = 1 << 16, 1 << 22

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def survey(block: Block) -> Columns:
    """Describe the columns of a block."""
    out = np.empty((4, block.rows.shape[1]))
    n_rows = kernels.column_stats(block.rows, out, block.n_threads)
    return Columns(n_rows, *out)


def assign_and_sum(block: Block, centers: Floats, tally: Tally) -> int:
    """Label the block's rows and move the sums of those that changed; how many did."""
    space, labels = tally.space, tally.labels[block.span]
    weights = None if block.weights is None else block.weights / space.weight_unit
    return kernels.assign_and_sum(
        block.rows, weights, centers, space, labels, tally, block.n_threads
    )


def assign(blocks: Blocks, centers: Floats, space: Space) -> Labels:
    """The nearest centre of every row; ties go to the lower index."""
    labels = np.empty(blocks.n_rows, dtype=np.int32)
    blocks.map(_assign, labels, centers, space)
    return labels


def _assign(block: Block, centers: Floats, space: Space, labels: Labels) -> None:
    kernels.assign(block.rows, centers, space, labels, block.n_threads)


def sum_sq_dists(blocks: Blocks, centers: Floats, space: Space, labels: Labels) -> float:
    """Weighted sum of squared distances of the rows to the centres of their labels."""
    return sum(_sq_dists(block, centers, space, labels, None) for block in blocks)


def row_sq_dists(blocks: Blocks, centers: Floats, space: Space, labels: Labels) -> Floats:
    """Squared distance of every row to the centre of its label."""
    sq_dists = np.empty(blocks.n_rows)
    for block in blocks:
        _sq_dists(block, centers, space, labels, sq_dists[block.span])
    return sq_dists / space.scale / space.scale


def farthest_rows(
    blocks: Blocks, centers: Floats, space: Space, labels: Labels, n_wanted: int
) -> npt.NDArray[np.int64]:
    """The rows farthest from the centres of their labels, farthest first, ties to the lower row.

    Rows on their centre and rows without weight are left out. Memory: some 100 kB.
    """
    rows, dists = np.empty(0, dtype=np.int64), np.empty(0)
    beyond = 0.0  # only rows farther than this can still be among them
    for part in (part for block in blocks for part in block.parts(_PART_ROWS)):
        here = np.empty(part.n_rows)
        _sq_dists(part, centers, space, labels, here)
        if part.weights is not None:
            here[part.weights == 0] = 0.0
        farther = np.flatnonzero(here > beyond)
        rows = np.concatenate([rows, farther + part.start])
        dists = np.concatenate([dists, here[farther]])
        best = np.argsort(-dists, kind="stable")[:n_wanted]  # rows are in order where dists tie
        rows, dists = rows[best], dists[best]
        if rows.size == n_wanted:
            beyond = float(dists[-1])
    return rows


def _sq_dists(
    block: Block, centers: Floats, space: Space, labels: Labels, into: Floats | None
) -> float:
    """Weighted sum of squared distances; each row's own, times scale^2, goes `into` an array."""
    here = labels[block.span]
    total = kernels.sum_sq_dists(
        block.rows, block.weights, centers, space.scale, here, into, block.n_threads
    )
    return total / space.scale / space.scale


def row_counts(labels: Labels, n_clusters: int) -> Ints:
    """How many rows have each label."""
    counts = np.empty(n_clusters, dtype=np.int64)
    kernels.count_labels(labels, counts)
    return counts


def put_few_means(
    blocks: Blocks,
    space: Space,
    labels: Labels,
    few: npt.NDArray[np.bool_],
    n_few: int,
    means: Floats,
) -> None:
    """Put the correctly rounded mean of every cluster that is `few` into its row of `means`.

    Time O(n_rows) for the labels and O(n_features) for each row of those clusters, which have
    `n_few` rows at most. Rows left on disk are gathered, some megabytes at a time.
    """
    if blocks.in_memory:
        (block,) = blocks
        _few_means(block, space, labels, few, means)
        return
    clusters = np.flatnonzero(few)
    at_once = max(1, _FEW_VALUES // (n_few * blocks.n_cols))
    for start in range(0, clusters.size, at_once):
        some = np.zeros_like(few)
        some[clusters[start : start + at_once]] = True
        rows = [
            begin + np.flatnonzero(some[labels[begin : begin + _SCAN_ROWS]])
            for begin in range(0, blocks.n_rows, _SCAN_ROWS)
        ]
        row_ids = np.concatenate(rows)
        weights = None if blocks.weights is None else blocks.weights[row_ids]
        gathered = Block(np.asarray(blocks.rows[row_ids]), weights, 0, blocks.n_threads)
        _few_means(gathered, space, labels[row_ids], some, means)


def _few_means(
    block: Block, space: Space, labels: Labels, few: npt.NDArray[np.bool_], means: Floats
) -> None:
    weights = None if block.weights is None else block.weights / space.weight_unit
    kernels.few_means(block.rows, weights, labels, few, space.sum_unit, means, block.n_threads)


def all_dists(blocks: Blocks, centers: Floats, space: Space) -> npt.NDArray[Any]:
    """Distance of every row to every centre: n_rows x n_clusters, which the user asks for."""
    dists = np.empty((blocks.n_rows, centers.shape[0]), dtype=blocks.dtype)
    blocks.map(_all_dists, dists, centers, space)
    return dists


def _all_dists(block: Block, centers: Floats, space: Space, dists: npt.NDArray[Any]) -> None:
    kernels.all_dists(block.rows, centers, space.scale, dists, block.n_threads)


def choose_space(blocks: Blocks, centers: Floats | None = None) -> tuple[Columns, Space]:
    """Look at the columns once and choose the coordinates to compute in; see `space_of`."""
    columns = blocks.total(survey)
    if not columns.finite:
        raise NotFiniteError(
            "X holds values that are not finite; if it did not when the fit began, it was changed "
            "meanwhile: pass a copy."
        )
    space = space_of(blocks, columns, centers)
    if blocks.weights is not None:
        nobody = np.zeros(blocks.n_rows, dtype=np.int32)
        origin = (space.origin / space.step_inverse)[np.newaxis]
        space = replace(space, total_scatter=sum_sq_dists(blocks, origin, space, nobody))
    return columns, space
