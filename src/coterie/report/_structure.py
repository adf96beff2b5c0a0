"""Whether there is structure: the test of tendency, and when a replay has to confirm it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.report._prepared import Prepared
from coterie.report._trust import NullReplay
from coterie.select.tendency import Tendency, tendency

#: Below this chance the test of tendency needs no second opinion.
_SURE = 0.005
#: The level of the replay.
_LEVEL = 0.05


def tested_tendency(points: npt.NDArray[np.float64], seed: int) -> Tendency | None:
    """The test of the points; None where there is but one row."""
    return tendency(points, random_state=seed) if len(points) > 1 else None


def needs_replay(ready: Prepared, tested: Tendency) -> bool:
    """Whether tendency alone does not tell: its chance is close to the level, or columns of few
    values, which look like modes, take part.
    """
    return ready.is_discrete or tested.p_value > _SURE


def is_confirmed(replayed: NullReplay) -> bool:
    """Whether rows without structure hardly show such clusters."""
    return replayed.p_value <= _LEVEL
