"""Mini-batch steps: label a few rows, move their centres a little, until that stops helping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._space import Space
from coterie.data import ArraySource, RowsByNumber, Source
from coterie.data.source import WINDOW_ROWS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Rows of the batches handed to one call of the kernel, about.
_ROWS_A_CALL = 1 << 16
#: Entries of `history_`, at most.
_MOST_ENTRIES = 1000


@dataclass
class RunningMeans:
    """Centres as running means: where they are and the weight of the rows each has taken in."""

    centers: Floats
    counts: Floats
    rows_since_check: int = 0

    def copy(self) -> RunningMeans:
        """Where they are now, to come back to."""
        return RunningMeans(self.centers.copy(), self.counts.copy(), self.rows_since_check)

    @property
    def just_checked(self) -> bool:
        """Whether the last step ended with a look for centres of low count."""
        return self.rows_since_check == 0


@dataclass(frozen=True)
class Steps:
    """What some steps saw, one entry per step: SSE of the batch before the move, squared move."""

    inertias: Floats
    sq_moves: Floats


def take_steps(
    blocks: ArraySource,
    space: Space,
    means: RunningMeans,
    row_ids: Ints,
    *,
    weights: Floats | None = None,
    forget: float = 0.0,
    low_ratio: float = 0.0,
) -> Steps:
    """Move the centres by one step for each row of `row_ids`.

    Sculley (2010): every row of a batch goes to its nearest centre, and a centre becomes the mean
    of all rows it has ever been given, c += sum w (x - c) / count. With `forget` = p > 0 the rate
    is (1 + p) times higher once counts are large, which makes the centre a mean whose early rows
    fade (polynomial-decay averaging, Shamir and Zhang 2013).

    Time O(n_steps * batch_size * n_clusters * n_features), memory one batch.

    Parameters
    ----------
    blocks, space
        Where the rows are, and the coordinates to compute in.
    means
        Modified.
    row_ids
        Batches of rows, shape (n_steps, batch_size).
    weights
        What each row of `blocks` counts, shape (n_rows,); None: one each.
    forget
        The power p above.
    low_ratio
        Return after the step in which a centre is found to have less than this share of the
        heaviest centre's count: a candidate for `reassign`. Looked at every 10 n_clusters rows
        and as long as some centre has none.

    Returns
    -------
    Steps
        Of the steps taken, the last one being that which called for an early return, if any.
    """
    n_steps = row_ids.shape[0]
    steps = Steps(np.empty(n_steps), np.empty(n_steps))
    rows = blocks.rows if blocks.sparse else np.asarray(blocks.rows)
    n_done, means.rows_since_check = kernels.minibatch_steps(
        rows, space, weights, row_ids, means, forget, low_ratio,
        10 * means.counts.size, steps, blocks.n_threads,
    )  # fmt: skip
    return Steps(steps.inertias[:n_done], steps.sq_moves[:n_done])


def reassign(
    means: RunningMeans,
    blocks: ArraySource,
    batch: Ints,
    low_ratio: float,
    rng: np.random.RandomState,
) -> int:
    """Put centres of low count on random rows of a batch; how many.

    They get the lowest count of the others, so that they are not moved again at once. At most
    half of the batch is used up, for the centres of lowest count; the heaviest always stays.

    Parameters
    ----------
    means
        Modified.
    blocks, batch
        The rows, and the indices of those in the batch.
    low_ratio
        A count below this share of the highest is low.
    rng
        Source of the choice.
    """
    low = np.flatnonzero(means.counts < low_ratio * means.counts.max())
    low = low[low != np.argmax(means.counts)]
    low = low[np.argsort(means.counts[low], kind="stable")][: batch.size // 2]
    if low.size:
        chosen = rng.choice(batch.size, size=low.size, replace=False)
        means.centers[np.sort(low)] = blocks.take(batch[chosen])
        means.counts[low] = np.delete(means.counts, low).min()
    return int(low.size)


class Plateau:
    """Notices when steps no longer help, from the move and the exponentially smoothed inertia.

    Parameters
    ----------
    memory
        Share of the newest step in the smoothed inertia.
    tol
        Settled once the squared move of a step, but the first, is at most this; 0: never.
    max_no_improvement
        Settled after this many steps in a row without a new lowest smoothed inertia; None: never.
    """

    def __init__(self, memory: float, tol: float, max_no_improvement: int | None) -> None:
        self.memory = memory
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        #: Smoothed inertia of a batch; of the start alone until a second step was seen.
        self.inertia = np.inf
        self._lowest = np.inf
        self._n_steps = 0
        self._n_worse = 0

    def _smooth(self, before: float, value: float) -> float:
        # The first step tells of the seeds, not of the descent: begin anew after it.
        if self._n_steps <= 2:
            return value
        return before + self.memory * (value - before)

    def why_stop(self, inertia: float, sq_move: float) -> str | None:
        """Take note of a step; a sentence once there is reason to stop."""
        self._n_steps += 1
        self.inertia = self._smooth(self.inertia, inertia)
        if self._n_steps == 1:
            return None
        if self.tol > 0 and sq_move <= self.tol:
            return f"the centres moved by no more than tol ({sq_move:.3g}, squared)"
        self._n_worse = 0 if self.inertia < self._lowest else self._n_worse + 1
        self._lowest = min(self._lowest, self.inertia)
        if self.max_no_improvement is not None and self._n_worse >= self.max_no_improvement:
            return f"the smoothed inertia found no new low in {self._n_worse} steps"
        return None


@dataclass(frozen=True)
class MiniBatchRun:
    """Where the steps ended; `batch_inertia` is the smoothed SSE of a batch."""

    means: RunningMeans
    n_steps: int
    batch_inertia: float


def minibatch(
    blocks: Source,
    space: Space,
    centers: Floats,
    rng: np.random.RandomState,
    *,
    batch_size: int,
    max_steps: int,
    plateau: Plateau,
    forget: float,
    low_ratio: float,
    recorder: Recorder,
) -> MiniBatchRun:
    """Take mini-batch steps from `centers` until they stop helping.

    Batches are drawn with replacement, rows in proportion to their weights; of rows that come only
    in their order, without replacement and shuffled within windows. Time
    O(batch_size * n_clusters * n_features) per step, memory one batch (and 8 bytes per row where
    there are weights). A call of the kernel takes many steps; those beyond the one that meets the
    rule for stopping are taken back.

    Parameters
    ----------
    blocks, space
        The rows, and the coordinates to compute in.
    centers
        Where to start, shape (n_clusters, n_features); not modified.
    rng
        Source of the batches and of reassignments.
    batch_size, max_steps
        Rows in a batch, and steps to take at most.
    plateau
        The rule for stopping.
    forget, low_ratio
        See `take_steps`.
    recorder
        Is told of the progress, about every tenth of a pass, and of events.

    Returns
    -------
    MiniBatchRun
    """
    draws = draws_from(blocks, batch_size, rng)
    means = RunningMeans(centers.copy(), np.zeros(centers.shape[0]))
    n_rows = blocks.n_rows
    total = n_rows if blocks.weights is None else float(blocks.weights.sum())
    period = max(-(-n_rows // (10 * batch_size)), -(-max_steps // _MOST_ENTRIES))
    a_call = min(period, max(1, _ROWS_A_CALL // batch_size))
    n_steps, n_reassigned, next_entry = 0, 0, period
    why: str | None = None
    while n_steps < max_steps and why is None and not recorder.stopped:
        some, planned, weights = draws(min(a_call, max_steps - n_steps))
        step = partial(take_steps, some, space, weights=weights, forget=forget, low_ratio=low_ratio)
        while planned.shape[0] > 0:
            before = means.copy()
            steps = step(means, planned)
            n_done, n_taken = 0, steps.inertias.size
            while n_done < n_taken and why is None:
                why = plateau.why_stop(steps.inertias[n_done], steps.sq_moves[n_done])
                n_done += 1
            if n_done < n_taken:
                means = before
                steps = step(means, planned[:n_done])
            n_steps += n_done
            last, planned = planned[n_done - 1], planned[n_done:]
            if why is not None:
                break
            if means.just_checked:
                n_reassigned += reassign(means, some, last, low_ratio, rng)
        if n_steps >= next_entry or n_steps >= max_steps or why is not None:
            next_entry += period
            if n_reassigned:
                recorder.event(
                    "reassigned",
                    f"{n_reassigned} centres of low count were put on random rows",
                    iteration=n_steps,
                )
                n_reassigned = 0
            recorder.iteration(
                means.centers,
                iteration=n_steps,
                objective_update=float(plateau.inertia / batch_size * total),
                shift=float(steps.sq_moves[-1]),
            )
    if why is not None:
        recorder.event("settled", why, iteration=n_steps)
    elif not recorder.stopped:
        recorder.event(
            "not settled", f"max_iter was reached after {n_steps} steps", iteration=n_steps
        )
    return MiniBatchRun(means, n_steps, plateau.inertia)


#: Draws so many batches: rows in memory, the batches by their numbers, and what each row counts.
Draws = Callable[[int], tuple[ArraySource, Ints, Floats | None]]


def draws_from(blocks: Source, batch_size: int, rng: np.random.RandomState) -> Draws:
    """How batches are drawn, by how rows can be had."""
    if isinstance(blocks, RowsByNumber):
        draw = row_drawer(blocks, rng)

        def anywhere(n_steps: int) -> tuple[ArraySource, Ints, Floats | None]:
            planned = draw((n_steps, batch_size))
            if isinstance(blocks, ArraySource):
                return blocks, planned, None
            places = np.arange(planned.size, dtype=np.int64).reshape(planned.shape)
            return blocks.pick(planned.ravel()), places, None

        return anywhere
    return _InOrder(blocks, batch_size, rng)


class _InOrder:
    """Batches of rows that come only in their order: window after window, again and again.

    Every row comes once, with its weight; what is left of a window's rows goes without.
    """

    def __init__(self, blocks: Source, batch_size: int, rng: np.random.RandomState) -> None:
        self._windows = _again(blocks, batch_size, rng)
        self._window, self._planned = next(self._windows)

    def __call__(self, n_steps: int) -> tuple[ArraySource, Ints, Floats | None]:
        if self._planned.shape[0] == 0:
            self._window, self._planned = next(self._windows)
        now, self._planned = self._planned[:n_steps], self._planned[n_steps:]
        return self._window, now, self._window.weights


def _again(
    blocks: Source, size: int, rng: np.random.RandomState
) -> Iterator[tuple[ArraySource, Ints]]:
    """Window after window, for ever, and the numbers of its rows in batches."""
    while True:
        for window in blocks.windows(max(size, WINDOW_ROWS // size * size)):
            n_steps = window.n_rows // size
            order = rng.permutation(window.n_rows)[: n_steps * size]
            if n_steps:
                yield window, order.astype(np.int64).reshape(n_steps, size)


def row_drawer(blocks: Source, rng: np.random.RandomState) -> Callable[[tuple[int, ...]], Ints]:
    """A function that draws rows with replacement, in proportion to their weights."""
    if blocks.weights is None:
        return lambda shape: rng.randint(blocks.n_rows, size=shape, dtype=np.int64)
    ends = np.cumsum(blocks.weights)
    last = int(np.searchsorted(ends, ends[-1]))

    def draw(shape: tuple[int, ...]) -> Ints:
        at = np.searchsorted(ends, rng.random_sample(shape) * ends[-1], side="right")
        return np.minimum(at, last).astype(np.int64, copy=False)

    return draw
