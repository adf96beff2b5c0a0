"""Whether there is structure: the test of tendency, and when a replay has to confirm it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.report._prepared import Prepared
from coterie.report._trust import NullReplay
from coterie.select.tendency import Tendency, tendency

#: Below these chances a dip needs no second opinion, nor the replay of tendency: 0.01 is the least
#: it can have, since it makes 99 replays.
_SURE, _SURE_REPLAY = 0.005, 0.01
#: The level of the replay.
_LEVEL = 0.05


def ask_tendency(points: npt.NDArray[np.float64], seed: int) -> Tendency | None:
    """The test of the points; None where there is but one row."""
    return tendency(points, random_state=seed) if len(points) > 1 else None


def needs_replay(ready: Prepared, tested: Tendency) -> bool:
    """Whether tendency alone does not tell: its chance is close to the level, or columns of few
    values, which look like modes, take part.
    """
    dips = 3 * min(tested.component_p_value, tested.distances.p_value)
    return ready.has_levels or (dips > _SURE and tested.replay.p_value > _SURE_REPLAY)


def is_confirmed(replayed: NullReplay) -> bool:
    """Whether rows without structure hardly show such clusters."""
    return replayed.p_value <= _LEVEL
