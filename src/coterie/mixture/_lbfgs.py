"""L-BFGS on the log-likelihood of a Gaussian mixture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from coterie._history import Recorder
from coterie.data import Blocks
from coterie.mixture._coordinates import Coordinates
from coterie.mixture._em import EMRun, Model
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gradient import Slope, note_floored, record, slope_at

#: Steps remembered for the shape of the objective.
_MEMORY = 20
#: No entry of the gradient (of the log-likelihood a row) is larger: an optimum.
_FLAT = 1e-9
#: Nor larger than this, where rounding ends the search first.
_NEARLY_FLAT = 1e-3
#: What SciPy reports where the line search fails.
_NO_LOWER = 2


def lbfgs(
    blocks: Blocks,
    model: Model,
    coordinates: Coordinates,
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    total_weight: float,
    shown: Callable[[Mixture], Any],
) -> EMRun:
    """Descend minus the log-likelihood by SciPy's L-BFGS-B from the mixture `coordinates.like`.

    Byrd, Lu, Nocedal & Zhu (1995). An iteration is one pass over the blocks, sometimes a few.
    Settles once the log-likelihood a row changes by less than `tol` in an iteration, or where the
    gradient vanishes.
    """
    search = _Search(blocks, model, coordinates, total_weight)
    start = search.at(coordinates.project(coordinates.pack(coordinates.like)))
    bounds: list[float] = []
    settled = start.vector.size == 0

    def after_step(intermediate_result: Any) -> None:
        nonlocal settled
        slope = search.at(intermediate_result.x)
        before = bounds[-1] if bounds else -start.objective
        bounds.append(-slope.objective)
        stop = record(recorder, slope, len(bounds), total_weight, shown)
        settled = abs(bounds[-1] - before) < tol
        if settled or stop:
            raise StopIteration

    end = start
    if max_iter > 0 and not settled:
        found = minimize(
            search,
            start.vector,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(*coordinates.bounds),
            callback=after_step,
            options={
                "maxiter": max_iter,
                "maxfun": np.iinfo(np.int32).max,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": _FLAT,
            },
        )
        end = search.at(found.x)
        if found.status == _NO_LOWER:
            recorder.event(
                "line search",
                f"no lower point was found, the gradient's largest entry being {end.steepest:.1e}",
                iteration=len(bounds),
            )
        settled = settled or found.status == 0 or end.steepest < _NEARLY_FLAT
    note_floored(recorder, end.mixture, coordinates)
    return EMRun(end.mixture, len(bounds), settled, -end.objective, bounds)


class _Search:
    """The objective as SciPy wants it; the last point is remembered."""

    def __init__(
        self, blocks: Blocks, model: Model, coordinates: Coordinates, total_weight: float
    ) -> None:
        self._at = partial(
            slope_at, coordinates=coordinates, model=model, blocks=blocks, total_weight=total_weight
        )
        self._last: Slope | None = None

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        slope = self.at(vector)
        return slope.objective, slope.gradient

    def at(self, vector: Floats) -> Slope:
        """Everything about a point."""
        if self._last is None or not np.array_equal(self._last.vector, vector):
            self._last = self._at(vector.copy())
        return self._last
