"""L-BFGS on the log-likelihood of a Gaussian mixture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from coterie._history import Recorder
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gradient import Objective, Slope
from coterie.mixture._task import EMRun, Task

#: Steps remembered for the shape of the objective.
_MEMORY = 20
#: No entry of the gradient (of the log-likelihood per row) is larger: an optimum.
_FLAT = 1e-9
#: Nor larger than this, where rounding ends the search first.
_NEARLY_FLAT = 1e-3
#: What SciPy reports where the line search fails.
_NO_LOWER = 2


def lbfgs(task: Task, start: Mixture, recorder: Recorder, before: float = -np.inf) -> EMRun:
    """Descend by SciPy's L-BFGS-B.

    Byrd, Lu, Nocedal & Zhu (1995). An iteration is one pass over the blocks, sometimes a few.
    Settles once the log-likelihood per row changes by less than `tol` in an iteration, or where the
    gradient vanishes.
    """
    objective = Objective.begun(task, start)
    search = _Remembering(objective)
    first = end = objective.start()
    bounds: list[float] = []
    settled = first.vector.size == 0

    def after_step(intermediate_result: Any) -> None:
        nonlocal settled
        slope = search.at(intermediate_result.x)
        before = bounds[-1] if bounds else -first.objective
        bounds.append(-slope.objective)
        stop = objective.record(recorder, slope, len(bounds), task)
        settled = abs(bounds[-1] - before) < task.tol
        if settled or stop:
            raise StopIteration

    if task.max_iter > 0 and not settled:
        found = minimize(
            search,
            first.vector,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(*objective.coordinates.bounds),
            callback=after_step,
            options={
                "maxiter": task.max_iter,
                "maxfun": np.iinfo(np.int32).max,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": _FLAT,
            },
        )
        end = search.at(found.x)
        if found.status == _NO_LOWER:
            settled = end.steepest < _NEARLY_FLAT
            recorder.event(
                "line search",
                f"no lower point was found, the gradient's largest entry being {end.steepest:.1e}",
                iteration=len(bounds),
            )
        settled = settled or found.status == 0
    return objective.end(recorder, end, bounds, settled=settled)


class _Remembering:
    """An objective as SciPy wants it, that remembers its last point."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._last: Slope | None = None

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        slope = self.at(vector)
        return slope.objective, slope.gradient

    def at(self, vector: Floats) -> Slope:
        """Everything about a point."""
        if self._last is None or not np.array_equal(self._last.vector, vector):
            self._last = self._objective.at(vector.copy())
        return self._last
