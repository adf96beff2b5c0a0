"""Mini-batch steps over rows that come by once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._minibatch import RunningMeans, reassign, take_steps
from coterie.centroid._space import Space
from coterie.data import ArraySource, Source
from coterie.data.source import WINDOW_ROWS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The mean squared distance looks back over about the rows seen so far divided by this.
_RECENT = 4.0
#: Windows from which on not each has an entry in the history, as a power of two.
_ENTRY_BITS = 10


@dataclass(frozen=True)
class OnePass:
    """Where the steps ended; `inertia` is the SSE of all rows as recent ones tell it."""

    means: RunningMeans
    n_steps: int
    inertia: float


def one_pass(
    blocks: Source,
    centers: Floats,
    rng: np.random.RandomState,
    *,
    space_for: Callable[[ArraySource, Floats], Space],
    batch_size: int,
    forget: float,
    low_ratio: float,
    recorder: Recorder,
) -> OnePass:
    """Take mini-batch steps from `centers` until every row was used once.

    Rows are shuffled within windows of `WINDOW_ROWS` or so, so that how they are cut into blocks
    does not matter. The last step takes what rows are left. Time O(n_rows n_clusters n_features),
    memory a window and a block.

    Parameters
    ----------
    blocks
        The rows, in their order.
    centers
        Where to start, shape (n_clusters, n_features); not modified.
    rng
        Source of the order within windows and of reassignments.
    space_for
        Coordinates for the rows of a window and centres.
    batch_size
        Rows per step.
    forget, low_ratio
        See `take_steps`.
    recorder
        Is told of each window; when it says stop, the rest is not read.

    Returns
    -------
    OnePass
    """
    means = RunningMeans(centers.copy(), np.zeros(centers.shape[0]))
    n_steps = n_rows = 0
    sq_dist = 0.0  # of a row to its centre before the step, smoothed
    window_rows = max(batch_size, WINDOW_ROWS // batch_size * batch_size)
    for number, window in enumerate(blocks.windows(window_rows), start=1):
        space = space_for(window, means.centers)
        n_reassigned, sq_move = 0, 0.0
        # Within one batch the order does not matter.
        in_one = window.n_rows <= batch_size
        order = np.arange(window.n_rows) if in_one else rng.permutation(window.n_rows)
        for planned in _in_batches(order, batch_size):
            size = planned.shape[1]
            while planned.shape[0]:
                steps = take_steps(
                    window, space, means, planned, forget=forget, low_ratio=low_ratio
                )
                n_taken = steps.inertias.size
                for inertia in steps.inertias:
                    n_rows += size
                    sq_dist += min(1.0, _RECENT * size / n_rows) * (float(inertia) / size - sq_dist)
                if means.just_checked:
                    last = planned[n_taken - 1]
                    n_reassigned += reassign(means, window, last, low_ratio, rng)
                sq_move, planned = float(steps.sq_moves[-1]), planned[n_taken:]
                n_steps += n_taken
        if n_reassigned:
            detail = f"{n_reassigned} centres of low count were put on random rows"
            recorder.event("reassigned", detail, iteration=n_steps)
        if number % (1 << max(0, number.bit_length() - _ENTRY_BITS)) == 0:
            recorder.iteration(
                means.centers, iteration=n_steps, objective_update=sq_dist, shift=sq_move
            )
        if recorder.stopped:
            break
    recorder.event(
        "one pass", f"{n_rows} rows were used once each, in {n_steps} steps", iteration=n_steps
    )
    return OnePass(means, n_steps, sq_dist * n_rows)


def _in_batches(order: npt.NDArray[Any], size: int) -> list[Ints]:
    """Rows in this order, so many per batch: all full batches, then the rest as one."""
    full, rest = np.split(order.astype(np.int64), [order.size // size * size])
    return [batches for batches in (full.reshape(-1, size), rest[np.newaxis]) if batches.size]
