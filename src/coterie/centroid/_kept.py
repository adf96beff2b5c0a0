"""The tally of rows in memory: the label of every row is kept, and only what changes is summed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._passes import (
    farthest_of,
    few_means,
    row_counts,
    sq_dists,
    sum_nearest,
    unit_weights,
)
from coterie.centroid._space import Space
from coterie.centroid._tally import Floats, Ints, Labels, Move, Tally
from coterie.data import ArraySource, Block


class KeptTally(Tally):
    """Who is in which cluster, and what each cluster sums to: always in step with each other.

    Memory: 4 bytes per row beside the sums.
    """

    blocks: ArraySource

    def __init__(self, blocks: ArraySource, space: Space, n_clusters: int) -> None:
        super().__init__(blocks, space, n_clusters)
        self.labels = np.full(blocks.n_rows, -1, dtype=np.int32)
        #: All rows.
        self.block: Block
        (self.block,) = blocks

    def assign(self, centers: Floats) -> int:
        block, space = self.block, self.space
        weights = unit_weights(block, space)
        return kernels.assign_and_sum(
            block.rows, weights, centers, space, self.labels, self, block.n_threads
        )

    def publish(self, centers: Floats) -> tuple[Labels, float]:
        return self.labels, self._sse(centers)

    def labels_now(self) -> Labels:
        return self.labels

    def _n_rows_of_each(self) -> Ints:
        if self.blocks.weights is None:
            return self.weight_sums[0]
        return row_counts(self.labels, self.weight_sums.shape[1])

    def _put_few_means(self, few: npt.NDArray[np.bool_], n_few: int, means: Floats) -> None:
        few_means(self.block, self.space, self.labels, few, means)

    def _sse(self, centers: Floats) -> float:
        return sq_dists(self.block, centers, self.space, self.labels)

    def move_farthest(self, centers: Floats, empty: Ints) -> list[Move]:
        farthest, _ = farthest_of(self.block, centers, self.space, self.labels, empty.size)
        moves = [
            Move(int(row), int(self.labels[row]), int(to))
            for to, row in zip(empty, farthest, strict=False)
        ]
        for move in moves:
            self.move_row(move.row, move.to)
        return moves

    def move_row(self, row: int, to: int) -> None:
        """Put one row into another cluster."""
        only = self.blocks.pick([row])
        alone = only.total(sum_nearest, only.take([0]), self.space)
        self._move_sums(alone.sums[:, 0], alone.weight_sums[:, 0], int(self.labels[row]), to)
        self.labels[row] = to
