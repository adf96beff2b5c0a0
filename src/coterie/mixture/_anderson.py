"""Anderson acceleration of EM's steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from coterie.mixture._family import Floats, Mixture
from coterie.mixture._task import Accelerator

#: Steps looked back at.
_DEPTH = 5
#: Directions in which the steps hardly differ, beside the others, are left out.
_LEAST_DIRECTION = 1e-8


class Vectors(Protocol):
    """Mixtures as vectors, any of which is valid."""

    def pack(self, mixture: Mixture) -> Floats:
        """The vector of a mixture."""
        ...

    def unpack(self, vector: Floats) -> Mixture:
        """The mixture of a vector."""
        ...

    def project(self, vector: Floats) -> Floats:
        """The vector within its bounds."""
        ...


class Anderson:
    """Proposes where EM is heading, from its last steps.

    With EM taking x_i to g_i, the combination of the last residuals g_i - x_i (weights summing to
    one) that is shortest is found, and the same combination of the g_i proposed: a secant method
    (Anderson 1965; Walker & Ni 2011). EM itself judges the proposal; where it was turned down the
    search for a pattern begins anew.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._steps: deque[tuple[Floats, Floats]] = deque(maxlen=_DEPTH + 1)
        self._proposed: Mixture | None = None

    def __call__(self, before: Mixture, after: Mixture) -> Mixture | None:
        if before is not self._proposed:
            self._steps.clear()
        self._steps.append((self._vectors.pack(before), self._vectors.pack(after)))
        self._proposed = after
        if len(self._steps) > 1:
            self._proposed = self._vectors.unpack(self._vectors.project(self._extrapolated()))
        return self._proposed

    def _extrapolated(self) -> Floats:
        starts, ends = (np.array(side) for side in zip(*self._steps, strict=True))
        residuals = ends - starts
        turns, moves = np.diff(residuals, axis=0), np.diff(ends, axis=0)
        shares, *_ = np.linalg.lstsq(turns.T, residuals[-1], rcond=_LEAST_DIRECTION)
        return np.asarray(ends[-1] - shares @ moves)


#: What proposes bolder steps, by the names `accelerate=` takes.
ACCELERATORS: dict[str | None, Callable[[Vectors], Accelerator | None]] = {
    None: lambda vectors: None,
    "anderson": Anderson,
}
