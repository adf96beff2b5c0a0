"""The tally of a k-means run: what each cluster sums to."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._space import Space
from coterie.data import Source

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

#: Below this share of the total scatter the objective is summed row by row: taking it from the
#: cluster sums would cancel too many digits.
_CANCELLING = 1e-6
#: Clusters of so few rows have a correctly rounded mean: at any number of rows, and where there
#: are so few that each could have a share of this many.
_FEW_ROWS, _FEW_ROWS_SHARED = 16, 1 << 20


class Tally(ABC):
    """What each cluster sums to, after the last assignment and what was moved by hand since.

    A subclass knows where the rows are, and so how to label them and to ask for a few. Memory: 8
    bytes for each coordinate of each centre.
    """

    def __init__(self, blocks: Source, space: Space, n_clusters: int) -> None:
        self.blocks = blocks
        self.space = space
        self.sums = np.zeros((space.limbs, n_clusters, blocks.n_cols), dtype=np.int64)
        self.weight_sums = np.zeros((space.limbs, n_clusters), dtype=np.int64)

    @abstractmethod
    def assign(self, centers: Floats) -> int | None:
        """Give every row to its nearest centre; how many changed, where that is known."""

    @abstractmethod
    def move_farthest(self, centers: Floats, empty: Ints) -> list[Move]:
        """Put the rows farthest from their centres into these clusters, one each."""

    @abstractmethod
    def publish(self, centers: Floats) -> tuple[Labels, float]:
        """The cluster of every row by these centres, and their SSE."""

    @abstractmethod
    def labels_now(self) -> Labels:
        """The cluster of every row after the last assignment and what was moved since."""

    @abstractmethod
    def _n_rows_of_each(self) -> Ints:
        """How many rows each cluster has."""

    @abstractmethod
    def _put_few_means(self, few: npt.NDArray[np.bool_], n_few: int, means: Floats) -> None:
        """Put the correctly rounded mean of every cluster that is `few` into its row of `means`.

        Those clusters have `n_few` rows at most.
        """

    @abstractmethod
    def _sse(self, centers: Floats) -> float:
        """Sum of squared errors under the present labels, row by row."""

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Which clusters have no weight."""
        empty = self.weight_sums[0] == 0
        for limb in self.weight_sums[1:]:
            empty &= limb == 0
        return empty

    @property
    def any_empty(self) -> bool:
        """Whether a cluster has no weight: mostly none has, and one look tells."""
        n_clusters = self.weight_sums.shape[1]
        if np.count_nonzero(self.weight_sums[0]) == n_clusters:
            return False
        return bool(self.empty.any())

    def means(self, centers: Floats) -> Floats:
        """Mean of every cluster; a cluster without weight stays where `centers` has it.

        Means of few rows are correctly rounded, others show the grid of the sums.
        """
        means, few = np.empty(centers.shape), np.empty(len(centers), dtype=np.bool_)
        most = max(_FEW_ROWS, _FEW_ROWS_SHARED // self.blocks.n_rows)
        n_rows = self._n_rows_of_each()
        if kernels.means_from_sums(self, self.space, centers, n_rows, most, few, means):
            self._put_few_means(few, most, means)
        return means

    def objective(self, centers: Floats) -> float:
        """Sum of squared errors of the rows against `centers`, under the present labels.

        From the cluster sums, sum w|x|^2 + sum W c.(c - 2 mean), unless that cancels.
        """
        space = self.space
        if not space.wild:
            scatter = space.total_scatter
            within = kernels.sse_from_sums(self, space, centers, space.weight_unit, scatter)
            if _CANCELLING * scatter < within < np.inf:
                return within
        return self._sse(centers)

    def _move_sums(self, sums: Ints, weight_sums: Ints, source: int, to: int) -> None:
        """Take what a row adds, (limbs, d) and (limbs,), from one cluster to another."""
        for sign, cluster in ((-1, source), (1, to)):
            self.sums[:, cluster] += sign * sums
            self.weight_sums[:, cluster] += sign * weight_sums


class Move:
    """A row that was put from one cluster into another."""

    __slots__ = ("row", "source", "to")

    def __init__(self, row: int, source: int, to: int) -> None:
        self.row, self.source, self.to = row, source, to
