"""Adam on mini-batches of rows, for Gaussian mixtures."""

from __future__ import annotations

import numpy as np

from coterie._history import Recorder
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gradient import Objective
from coterie.mixture._task import EMRun, Task

#: Rows of a mini-batch: this share of all of them, within limits.
_BATCH_SHARE = 0.05
_FEWEST, _MOST = 32, 4096
#: The learning rate begins here,
_RATE = 0.05
#: is multiplied by this where the objective no longer falls,
_SLOWER = 0.3
#: and so often; the next time the fit has settled.
_N_FALLS = 3
#: Steps without a gain of `tol` that make it so, in whole epochs within limits.
_PATIENCE = 90
_SHORTEST, _LONGEST = 3, 10


class Adam:
    """Kingma & Ba (2015): steps by the mean gradient in units of its root mean square."""

    def __init__(self, size: int, mean_decay: float = 0.9, square_decay: float = 0.999) -> None:
        self._decays = mean_decay, square_decay
        self._mean, self._square = np.zeros(size), np.zeros(size)
        self._n_steps = 0

    def step(self, gradient: Floats) -> Floats:
        """The step for a learning rate of one."""
        mean_decay, square_decay = self._decays
        self._n_steps += 1
        self._mean += (1 - mean_decay) * (gradient - self._mean)
        self._square += (1 - square_decay) * (np.square(gradient) - self._square)
        mean = self._mean / (1 - mean_decay**self._n_steps)
        square = self._square / (1 - square_decay**self._n_steps)
        return np.asarray(-mean / (np.sqrt(square) + 1e-8))


def sgd(task: Task, start: Mixture, recorder: Recorder, before: float = -np.inf) -> EMRun:
    """Descend by Adam on mini-batches.

    An iteration is an epoch: every row once, in mini-batches, then once more to judge the average
    of the steps (Polyak & Juditsky 1992), which is less noisy than the last one. Where some epochs
    gain less than `tol` the learning rate falls, and the search goes on from the best point so
    far; after some such falls it has settled, unless a step of EM from there would gain `tol`:
    then the learning rate is what it was at the beginning.
    """
    objective, tol, rng = Objective.begun(task, start), task.tol, task.rng()
    best = objective.start()
    vector, adam = best.vector, Adam(best.vector.size)
    n_falls, n_idle, goal = 0, 0, best.objective - tol
    settled = False
    bounds: list[float] = []
    size = int(np.clip(_BATCH_SHARE * objective.blocks.n_rows, _FEWEST, _MOST))
    patience = int(np.clip(_PATIENCE * size / objective.blocks.n_rows, _SHORTEST, _LONGEST))
    for n_iter in range(1, task.max_iter + 1):
        vector, mean = _epoch(objective, vector, size, _RATE * _SLOWER**n_falls, adam, rng)
        slope = objective.at(mean)
        bounds.append(-slope.objective)
        stop = objective.record(recorder, slope, n_iter, task)
        if slope.objective < best.objective:
            best = slope
        n_idle += 1
        if best.objective < goal:
            n_idle, goal = 0, best.objective - tol
        if n_idle == patience:
            n_idle, n_falls = 0, n_falls + 1
            vector, adam = best.vector, Adam(vector.size)
        settled = n_falls > _N_FALLS and objective.gain_of_em(best) < tol
        if settled or stop:
            break
        if n_falls > _N_FALLS:
            n_falls = 0
    return objective.end(recorder, best, bounds, settled=settled)


def _epoch(
    objective: Objective,
    vector: Floats,
    size: int,
    rate: float,
    adam: Adam,
    rng: np.random.RandomState,
) -> tuple[Floats, Floats]:
    """Where one walk over all rows leads, and where it was on average."""
    total, n_steps = np.zeros_like(vector), 0
    for batch in objective.blocks.batches(size, rng):
        gradient = objective.of(batch).at(vector).gradient
        vector = objective.coordinates.project(vector + rate * adam.step(gradient))
        total, n_steps = total + vector, n_steps + 1
    return vector, total / n_steps
