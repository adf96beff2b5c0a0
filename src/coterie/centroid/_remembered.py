"""The tally of rows that come by in this process: their labels stay when they have gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._kernels import kernels
from coterie.centroid._passes import row_counts, unit_weights
from coterie.centroid._space import Space
from coterie.centroid._streamed import Labelling, StreamedTally
from coterie.centroid._tally import Floats, Ints, Labels, Move
from coterie.data import Block, Source


class RememberedTally(StreamedTally):
    """A streamed tally that sums only the rows whose label changes, and need not label them again.

    The labels are of this process, so the rows have to come by here. Memory: 4 bytes per row.
    """

    def __init__(self, blocks: Source, space: Space, n_clusters: int) -> None:
        super().__init__(blocks, space, n_clusters)
        self.labels = np.full(blocks.n_rows, -1, dtype=np.int32)
        self._labelling = Remembered(self.labels, space)

    def assign(self, centers: Floats) -> int:
        n_changed = 0
        for block in self.blocks:
            weights, labels = unit_weights(block, self.space), self.labels[block.span]
            n_changed += kernels.assign_and_sum(
                block.rows, weights, centers, self.space, labels, self, block.n_threads
            )
        return n_changed

    def publish(self, centers: Floats) -> tuple[Labels, float]:
        return self.labels, self._sse(centers)

    def labels_now(self) -> Labels:
        return self.labels

    def _n_rows_of_each(self) -> Ints:
        if self.blocks.weights is None:
            return self.weight_sums[0]
        return row_counts(self.labels, self.weight_sums.shape[1])

    def _move_rows(self, move: Move) -> None:
        self.labels[move.row] = move.to


@dataclass(frozen=True)
class Remembered(Labelling):
    """The labels of all rows."""

    labels: Labels
    space: Space

    def of(self, block: Block) -> Labels:
        return self.labels[block.span]
