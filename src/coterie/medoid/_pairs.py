"""Distances of candidates to rows, for searches over medoids: given, kept, or measured anew.

Which of the last two it is changes the time and the memory of a search, never its result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import available_memory, check_memory
from coterie._kernels import kernels
from coterie.distance import Metric

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

#: Distances are kept up to so many bytes, and half of what is free; beyond, measured anew.
KEPT_BYTES = 1_000_000_000
#: The work of one pass over all distances, in pairs times columns, that an exact search may cost.
MOST_WORK = 200_000_000_000
#: What a pair costs beside its columns, in columns.
_WORK_OF_A_PAIR = 16


@dataclass(frozen=True)
class Pairs(ABC):
    """What knows the distances of some rows, each of which may become a medoid."""

    who: str
    n_threads: int
    #: The numbers by which a search that counts only some rows tells of them.
    counted: Ids | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def affordable(self) -> bool:
        """Whether a search may look at the distances of all pairs several times."""

    @abstractmethod
    def search(
        self, weights: Floats | None, allowed: npt.NDArray[np.bool_] | None, to: Ids | None = None
    ) -> kernels.Medoids:
        """A search with all `allowed` rows as candidates, over these rows with their weights.

        `to` are the rows whose distances to their medoids count, by default all.
        """

    @abstractmethod
    def among(self, rows: Ids) -> Pairs:
        """The distances among these rows alone."""

    def lost(self, row: int) -> ValueError:
        """What to say of a row that is infinitely far from the medoids."""
        return lost(self.who, row if self.counted is None else int(self.counted[row]))


@dataclass(frozen=True)
class GivenPairs(Pairs):
    """A square of distances, which is read where it is."""

    matrix: npt.NDArray[Any]

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def affordable(self) -> bool:
        return True

    def search(
        self, weights: Floats | None, allowed: npt.NDArray[np.bool_] | None, to: Ids | None = None
    ) -> kernels.Medoids:
        # A square is its own mirror image, so either order is at hand.
        square = self.matrix if self.matrix.flags.c_contiguous else self.matrix.T
        square = np.ascontiguousarray(square if to is None else square[:, to])
        return kernels.medoids_given(square, weights, allowed)

    def among(self, rows: Ids) -> Pairs:
        return GivenPairs(self.who, self.n_threads, self.matrix[np.ix_(rows, rows)])


@dataclass(frozen=True)
class MeasuredPairs(Pairs):
    """Prepared rows and their metric; `given` are the rows before, where they differ."""

    rows: npt.NDArray[Any]
    metric: Metric
    given: npt.NDArray[Any] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def affordable(self) -> bool:
        return affordable(self.metric, *self.rows.shape)

    def search(
        self, weights: Floats | None, allowed: npt.NDArray[np.bool_] | None, to: Ids | None = None
    ) -> kernels.Medoids:
        others = self.rows if to is None else self.rows[to]
        shape = self.n_rows, others.shape[0]
        if self.metric.native is None or not _may_be_kept(shape, self.rows.dtype):
            return measured(
                self.who, self.metric, self.rows, others, weights, allowed, self.n_threads
            )
        kept = np.empty(shape, dtype=self.rows.dtype)
        kernels.fill_lengths(self.rows, others, self.metric.native, kept, self.n_threads)
        return kernels.medoids_given(kept, weights, allowed)

    def among(self, rows: Ids) -> Pairs:
        return MeasuredPairs(self.who, self.n_threads, self.rows[rows], self.metric)


def measured(
    who: str,
    metric: Metric,
    candidates: npt.NDArray[Any],
    others: npt.NDArray[Any],
    weights: Floats | None,
    allowed: npt.NDArray[np.bool_] | None,
    n_threads: int,
) -> kernels.Medoids:
    """A search whose distances are measured whenever they are looked at; by a function once."""
    if metric.native is not None:
        return kernels.medoids_measured(candidates, others, metric.native, weights, allowed)
    n_pairs = candidates.shape[0] * others.shape[0]
    check_memory(
        who,
        8 * n_pairs,
        f"{n_pairs} distances by a function of two rows",
        "use fewer rows, method='onebatch', or a metric by its name",
    )
    lengths = metric.lengths(candidates, others, n_threads)
    low = lengths.min()
    if not low >= 0:
        raise ValueError(
            f"{who}: metric={metric.name!r} gave the distance {low:g}; a distance is a number of "
            "zero or more."
        )
    return kernels.medoids_given(lengths, weights, allowed)


def affordable(metric: Metric, n_rows: int, n_cols: int) -> bool:
    """Whether a search may look at the distances of all pairs of so many rows several times."""
    if metric.native is None:
        return 8 * n_rows**2 <= KEPT_BYTES
    return n_rows**2 * (n_cols + _WORK_OF_A_PAIR) <= MOST_WORK


def lost(who: str, row: int) -> ValueError:
    """What to say of a row that is infinitely far from the medoids."""
    return ValueError(
        f"{who}: row {row} has no finite distance to two of the medoids, so there is no total "
        "deviation; scale the rows down if they are huge, leave such rows out, or fill in what "
        "they miss."
    )


def prepared_rows(metric: Metric, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows as they are compared, no less precise than they are."""
    prepared = metric.prepare(rows)
    return prepared.astype(np.result_type(rows.dtype, prepared.dtype), copy=False)


def _may_be_kept(shape: tuple[int, int], dtype: Any) -> bool:
    """Whether so many distances are kept rather than measured again."""
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    free = available_memory()
    return n_bytes <= KEPT_BYTES and (free is None or n_bytes <= free // 2)
