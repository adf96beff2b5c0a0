"""Lloyd's iterations: label the rows, move the centres, until nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie._history import Recorder
from coterie.centroid._passes import assign_and_sum, farthest_rows, sum_sq_dists
from coterie.centroid._space import Space
from coterie.data import Blocks
from coterie.errors import InvariantError

Floats = npt.NDArray[np.float64]

#: Below this share of the total scatter the objective is summed row by row: taking it from the
#: cluster sums would cancel too many digits.
_CANCELLING = 1e-6


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
        """Mean of every cluster; a cluster without weight stays where `centers` has it."""
        means = self.space.means(self.sums, self.weight_sums)
        empty = self.empty
        means[empty] = centers[empty]
        return means

    def objective(self, centers: Floats, means: Floats) -> float:
        """Sum of squared errors of the rows against `centers`, under the current labels.

        From the means alone, sum w|x|^2 + sum W c.(c - 2 mean), unless that cancels.
        """
        space = self.space
        if not space.wild:
            unit = space.weight_unit
            origin = space.origin / space.step_inverse
            at = centers - origin
            terms = means - origin  # and in place to at * (at - 2 * means)
            terms *= -2
            terms += at
            terms *= at
            weights = space.weights(self.weight_sums)
            scatter = space.total_scatter
            within = scatter + unit * float(weights @ terms.sum(axis=1))
            if within > _CANCELLING * scatter:
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
    project: Callable[[Floats], Floats] | None = None,
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
        Applied to the means (spherical k-means puts them back on the sphere).

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
        means = tally.means(centers)
        after_assign = tally.objective(centers, means)
        if relocate_empty(step, centers, recorder, n_iter):
            means = tally.means(centers)
        moved = means if project is None else project(means)
        moved.flags.writeable = False  # the step remembers them, a callback may see them
        after_update = tally.objective(moved, means)
        del means  # a copy of the centres less, if they were projected
        if get_options()["check_invariants"]:
            _check_descent(tally, before, after_assign, after_update, n_iter, project is None)
        before = after_update
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


def relocate_empty(step: PlainStep, centers: Floats, recorder: Recorder, n_iter: int) -> bool:
    """Give each empty cluster one of the rows farthest from their centres; whether any was."""
    tally = step.tally
    empty = np.flatnonzero(tally.empty)
    if empty.size == 0:
        return False
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
    return True


def _check_descent(
    tally: Tally, before: float, after_assign: float, after_update: float, n_iter: int, exact: bool
) -> None:
    """Raise if a half-step raised the objective beyond rounding."""
    slack = 1e-9 * max(abs(after_assign), 1e-3 * tally.space.total_scatter)
    if after_assign > before + slack:
        raise InvariantError(
            f"k-means: the assignment of iteration {n_iter} raised the objective from {before!r} "
            f"to {after_assign!r}."
        )
    if exact and after_update > after_assign + slack:
        raise InvariantError(
            f"k-means: the update of iteration {n_iter} raised the objective from "
            f"{after_assign!r} to {after_update!r}."
        )
