"""Components without rows: nothing is wrong with them, but it should be known."""

from __future__ import annotations

import numpy as np

from coterie._history import Recorder
from coterie.mixture._family import Expectation, Mixture
from coterie.mixture._task import Repair


def note_dead() -> Repair:
    """Notes, once each, the components that lost all rows; they keep a weight of zero."""
    noted: set[int] = set()

    def note(mixture: Mixture, expected: Expectation, recorder: Recorder, n_iter: int) -> None:
        for component in np.flatnonzero(expected.counts == 0).tolist():
            if component not in noted:
                noted.add(component)
                recorder.event(
                    "dead",
                    f"component {component} lost all rows at iteration {n_iter}: left without "
                    "weight",
                    where=component,
                    iteration=n_iter,
                )

    return note
