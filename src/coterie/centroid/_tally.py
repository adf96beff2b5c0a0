"""The tally of a k-means run: who is in which cluster, and what each cluster sums to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.centroid._passes import assign_and_sum, put_few_means, row_counts, sum_sq_dists
from coterie.centroid._space import Space
from coterie.data import Blocks

Floats = npt.NDArray[np.float64]

#: Below this share of the total scatter the objective is summed row by row: taking it from the
#: cluster sums would cancel too many digits.
_CANCELLING = 1e-6
#: Clusters of so few rows have a correctly rounded mean: at any number of rows, and where there
#: are so few that each could have a share of this many.
_FEW_ROWS, _FEW_ROWS_SHARED = 16, 1 << 20


class Tally:
    """Who is in which cluster, and what each cluster sums to: always in step with each other.

    Memory: 4 bytes a row and 8 bytes for each coordinate of each centre.
    """

    def __init__(self, blocks: Blocks, space: Space, n_clusters: int) -> None:
        self.blocks = blocks
        self.space = space
        self.labels = np.full(blocks.n_rows, -1, dtype=np.int32)
        self.sums = np.zeros((space.limbs, n_clusters, blocks.n_cols), dtype=np.int64)
        self.weight_sums = np.zeros((space.limbs, n_clusters), dtype=np.int64)

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Which clusters have no weight."""
        return np.logical_not(self.weight_sums.any(axis=0))

    def means(self, centers: Floats) -> Floats:
        """Mean of every cluster; a cluster without weight stays where `centers` has it.

        Means of few rows are correctly rounded, others show the grid of the sums.
        """
        means = self.space.means(self.sums, self.weight_sums)
        empty = self.empty
        means[empty] = centers[empty]
        n_few = max(_FEW_ROWS, _FEW_ROWS_SHARED // self.blocks.n_rows)
        few = self._n_rows_of_each() <= n_few
        few &= ~empty
        if few.any():
            put_few_means(self.blocks, self.space, self.labels, few, n_few, means)
        return means

    def _n_rows_of_each(self) -> npt.NDArray[np.int64]:
        """How many rows each cluster has."""
        if self.blocks.weights is None:
            return self.weight_sums[0]
        return row_counts(self.labels, self.weight_sums.shape[1])

    def objective(self, centers: Floats) -> float:
        """Sum of squared errors of the rows against `centers`, under the current labels.

        From the cluster sums, sum w|x|^2 + sum W c.(c - 2 mean), unless that cancels.
        """
        space = self.space
        if not space.wild:
            at = centers - space.origin / space.step_inverse
            terms = space.offsets(self.sums, self.weight_sums)  # in place to at * (at - 2 * means)
            terms[self.empty] = 0.0
            terms *= -2
            terms += at
            scatter = space.total_scatter
            with np.errstate(over="ignore", invalid="ignore"):  # given centres, far beyond all rows
                terms *= at
                weights = space.weights(self.weight_sums)
                within = scatter + space.weight_unit * float(weights @ terms.sum(axis=1))
            if _CANCELLING * scatter < within < np.inf:
                return within
        return sum_sq_dists(self.blocks, centers, space, self.labels)

    def move_row(self, row: int, to: int) -> None:
        """Put one row into another cluster."""
        only = Blocks(
            self.blocks.rows[row : row + 1],
            None if self.blocks.weights is None else self.blocks.weights[row : row + 1],
        )
        # Nearest of one centre: the row leaves its cluster for cluster 0 of a fresh tally.
        alone = Tally(only, self.space, 1)
        for block in only:
            assign_and_sum(block, only.take([0]), alone)
        for sign, cluster in ((-1, int(self.labels[row])), (1, to)):
            self.sums[:, cluster] += sign * alone.sums[:, 0]
            self.weight_sums[:, cluster] += sign * alone.weight_sums[:, 0]
        self.labels[row] = to
