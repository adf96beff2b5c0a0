"""k-means as a subroutine: seeds, Lloyd's descent from them, and the best of some restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._restarts import best_of, recorders
from coterie.centroid._lloyd import LloydRun, lloyd
from coterie.centroid._seeding import SEEDINGS, affordable
from coterie.centroid._space import Space
from coterie.centroid._steps import choose_steps
from coterie.data import Source

Floats = npt.NDArray[np.float64]

#: Makes starting centres: of rows, their coordinates, how many, and random numbers; a recorder is
#: told of what is odd.
Start = Callable[[Source, Space, int, np.random.RandomState, Recorder | None], Floats]


def seeded(name: str, n_local_trials: int | None = None) -> Start:
    """The start by a seeding of this name."""

    def start(
        blocks: Source,
        space: Space,
        n_clusters: int,
        rng: np.random.RandomState,
        recorder: Recorder | None = None,
    ) -> Floats:
        used, why = affordable(name, blocks, n_clusters)
        if why is not None and recorder is not None:
            recorder.event("seeding", why, where=used)
        return SEEDINGS[used](blocks, space, n_clusters, rng, n_local_trials=n_local_trials).centers

    return start


_BY_DEFAULT = seeded("k-means++")


def kmeans(
    blocks: Source,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    start: Start = _BY_DEFAULT,
    algorithm: str = "auto",
    max_iter: int = 300,
    tol: float = 0.0,
    runs: Iterable[Recorder] | None = None,
    project: Callable[[Floats, Floats], Floats] | None = None,
) -> LloydRun:
    """Find centres with a low sum of squared errors: Lloyd's descent, the best of some starts.

    Time O(n_rows * n_clusters * n_features) per iteration at most. Memory: 4 bytes per row for the
    labels, those of the bounds, and 4 bytes per row for the best run while there is another.

    Parameters
    ----------
    blocks, space
        The rows, and the coordinates to compute in.
    n_clusters
        How many centres.
    rng
        Where the starts come from.
    start
        Makes them.
    algorithm
        One of `ALGORITHMS`; the result does not depend on it.
    max_iter, tol, project
        See `lloyd`.
    runs
        A recorder for each run to make; None: a single run that nobody watches.

    Returns
    -------
    LloydRun
        The best run, the first of equals.
    """
    best: tuple[LloydRun, Recorder] | None = None
    for recorder in recorders(1, max_iter) if runs is None else runs:
        run = lloyd(
            start(blocks, space, n_clusters, rng, recorder),
            choose_steps(algorithm, blocks, space, n_clusters, recorder),
            max_iter=max_iter,
            tol=tol,
            recorder=recorder,
            project=project,
        )
        if not recorder.last:  # or what it knows of every row would be in memory twice
            run = run.without_bounds()
        best = best_of(best, run, recorder, improves)
    assert best is not None
    return best[0]


class Centred(Protocol):
    """Centres and their SSE."""

    @property
    def centers(self) -> Floats: ...

    @property
    def inertia(self) -> float: ...


def improves(run: Centred, best: Centred) -> bool:
    """Whether a run is better than the best one before it.

    Of runs that found the same clusters the first one is kept, whatever rounding says of their
    objectives: the same clusters have the same means, to the bit, in another order at most.
    """
    return run.inertia < best.inertia and not np.array_equal(
        np.unique(run.centers, axis=0), np.unique(best.centers, axis=0)
    )
