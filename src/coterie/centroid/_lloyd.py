"""Lloyd's iterations: label the rows, move the centres, until nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie._history import Recorder
from coterie.centroid._passes import (
    assign_and_sum,
    farthest_rows,
    put_few_means,
    row_counts,
    sum_sq_dists,
)
from coterie.centroid._space import Space
from coterie.data import Blocks
from coterie.errors import InvariantError

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
            assign_and_sum(
                block, only.take([0]), self.space, alone.labels, alone.sums, alone.weight_sums
            )
        for sign, cluster in ((-1, int(self.labels[row])), (1, to)):
            self.sums[:, cluster] += sign * alone.sums[:, 0]
            self.weight_sums[:, cluster] += sign * alone.weight_sums[:, 0]
        self.labels[row] = to


class PlainStep:
    """Assignment that looks at every row and every centre; keeps nothing but the tally."""

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        self.tally = tally
        #: Rows for which all centres were scanned in the last assignment.
        self.n_scanned = 0

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        tally = self.tally
        self.n_scanned = tally.blocks.n_rows
        return sum(
            assign_and_sum(block, centers, tally.space, tally.labels, tally.sums, tally.weight_sums)
            for block in tally.blocks
        )

    def finish(self, centers: Floats) -> None:
        """The last assignment, to the centres that are published."""
        self.assign(centers)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Rows were moved by hand; nothing was remembered of them."""


@dataclass
class LloydRun:
    """Where the centres ended: `settled` says whether they stopped moving."""

    centers: Floats
    n_iter: int
    settled: bool
    objective: float
    step: PlainStep | None

    def without_step(self) -> LloydRun:
        """The same result without what the step remembers of every row."""
        return replace(self, step=None)


def lloyd(
    centers: Floats,
    step: PlainStep,
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    project: Callable[[Floats, Floats], Floats] | None = None,
) -> LloydRun:
    """Move every centre to the mean of its nearest rows until the centres settle.

    Lloyd (1982). One iteration costs O(n_rows * n_clusters * n_features) time at most, less
    where the step proves rows unchanged.

    Parameters
    ----------
    centers
        Where to start, shape (n_clusters, n_features); not modified.
    step
        How rows are labelled; all steps give the same labels.
    max_iter, tol
        Stop after `max_iter` passes, or settle once no label changes or the summed squared move
        is at most `tol`.
    recorder
        Is told of every iteration and event, and may ask to stop.
    project
        Applied to the means and the centres they replace (spherical k-means puts them back on the
        sphere).

    Returns
    -------
    LloydRun
    """
    tally = step.tally
    before = np.inf
    settled = False
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        n_changed = step.assign(centers)
        n_scanned = step.n_scanned
        after_assign = tally.objective(centers)
        relocate_empty(step, centers, recorder, n_iter)
        moved = tally.means(centers)
        if project is not None:
            moved = project(moved, centers)
        moved.flags.writeable = False  # the step remembers them, a callback may see them
        after_update = tally.objective(moved)
        if get_options()["check_invariants"]:
            _check_descent(tally, before, after_assign, after_update, n_iter, moved)
        before = after_update
        with np.errstate(over="ignore"):  # given centres, far beyond all rows
            shift = float(np.square(moved - centers).sum())
        centers = moved
        stop = recorder.iteration(
            centers,
            iteration=n_iter,
            objective_assign=after_assign,
            objective_update=after_update,
            shift=shift,
            n_changed=n_changed,
            n_scanned=n_scanned,
        )
        settled = n_changed == 0 or shift <= tol
        if settled or stop:
            break
    return LloydRun(centers, n_iter, settled, before, step)


def improves(
    objective: float, centers: Floats, best_objective: float, best_centers: Floats
) -> bool:
    """Whether a run is better than the best one before it.

    Of runs that found the same clusters the first one is kept, whatever rounding says of their
    objectives: the same clusters have the same means, to the bit, in another order at most.
    """
    return objective < best_objective and not np.array_equal(
        np.unique(centers, axis=0), np.unique(best_centers, axis=0)
    )


def relocate_empty(step: PlainStep, centers: Floats, recorder: Recorder, n_iter: int) -> None:
    """Give each empty cluster one of the rows farthest from their centres."""
    tally = step.tally
    empty = np.flatnonzero(tally.empty)
    if empty.size == 0:
        return
    farthest = farthest_rows(tally.blocks, centers, tally.space, tally.labels, empty.size)
    moved = []
    for cluster, row in zip(empty, farthest, strict=False):
        source = int(tally.labels[row])
        tally.move_row(int(row), int(cluster))
        moved.append(int(row))
        recorder.event(
            "relocated",
            f"cluster {cluster} was empty and got row {row}, the farthest from its centre, "
            f"out of cluster {source}",
            where=int(cluster),
            iteration=n_iter,
        )
    step.forget(np.asarray(moved, dtype=np.int64))


def _check_descent(
    tally: Tally,
    before: float,
    after_assign: float,
    after_update: float,
    n_iter: int,
    centers: Floats,
) -> None:
    """Raise if a half-step raised the objective beyond rounding, that of the centres included."""
    weights = tally.space.weights(tally.weight_sums) * tally.space.weight_unit
    heavy = weights > 0
    with np.errstate(over="ignore"):
        sq_roundings = np.square(np.spacing(np.abs(centers[heavy]))).sum(axis=1)
        rounding = float((weights[heavy] * sq_roundings).sum())
    slack = 1e-9 * max(abs(after_assign), 1e-3 * tally.space.total_scatter) + rounding
    if after_assign > before + slack:
        raise InvariantError(
            f"k-means: the assignment of iteration {n_iter} raised the objective from {before!r} "
            f"to {after_assign!r}."
        )
    if after_update > after_assign + slack:
        raise InvariantError(
            f"k-means: the update of iteration {n_iter} raised the objective from "
            f"{after_assign!r} to {after_update!r}."
        )
