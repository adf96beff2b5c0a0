"""Lloyd's iterations: label the rows, move the centres, until nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._steps import PlainStep
from coterie.centroid._tally import Tally
from coterie.errors import InvariantError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LloydRun:
    """Where the centres ended.

    `inertia` is the SSE of the labels whose means the centres are; `settled` says whether the
    centres stopped moving. The history is with the `recorder`.
    """

    centers: Floats
    inertia: float
    n_iter: int
    settled: bool
    recorder: Recorder
    step: PlainStep

    def relabel(self, centers: Floats) -> tuple[npt.NDArray[np.int32], float]:
        """Label the rows once more, by these centres; the labels and their SSE.

        What the run knows of the rows becomes that.
        """
        self.step.assign(centers)
        return self.step.tally.publish(centers)

    def without_bounds(self) -> LloydRun:
        """The same result without what the step remembers of every row beside its label."""
        return replace(self, step=PlainStep(self.step.tally))


def lloyd(
    centers: Floats,
    steps: Iterator[PlainStep],
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
    steps
        How rows are labelled, one step per iteration; all steps give the same labels.
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
    before = np.inf
    for n_iter in range(1, max_iter + 1):
        step = next(steps)
        tally = step.tally
        n_changed = step.assign(centers)
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
        shift = kernels.sum_sq_moves(centers, moved)
        centers = moved
        stop = recorder.iteration(
            centers,
            iteration=n_iter,
            objective_assign=after_assign,
            objective_update=after_update,
            shift=shift,
            **({} if n_changed is None else {"n_changed": n_changed}),
            n_scanned=step.n_scanned,
        )
        settled = n_changed == 0 or shift <= tol
        if settled or stop:
            break
    return LloydRun(centers, before, n_iter, settled, recorder, step)


def relocate_empty(step: PlainStep, centers: Floats, recorder: Recorder, n_iter: int) -> None:
    """Give each empty cluster one of the rows farthest from their centres."""
    tally = step.tally
    if not tally.any_empty:
        return
    moves = tally.move_farthest(centers, np.flatnonzero(tally.empty))
    for move in moves:
        recorder.event(
            "relocated",
            f"cluster {move.to} was empty and got row {move.row}, the farthest from its centre, "
            f"out of cluster {move.source}",
            where=move.to,
            iteration=n_iter,
        )
    step.forget(np.array([move.row for move in moves], dtype=np.int64))


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
