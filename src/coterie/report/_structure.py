"""Whether there is structure: the test of tendency, and when a replay has to confirm it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.data.columns import missing_cells
from coterie.data.raw_table import RawTable
from coterie.report._prepared import Prepared
from coterie.report._trust import NullReplay
from coterie.select.tendency import Tendency, tendency

Floats = npt.NDArray[np.float64]

#: Below these chances a dip needs no second opinion, nor the replay of tendency: 0.01 is the least
#: it can have, since it makes 99 replays.
_SURE, _SURE_REPLAY = 0.005, 0.01
#: The level of the replay.
_LEVEL = 0.05


def ask_tendency(ready: Prepared, points: Floats, cells: RawTable, seed: int) -> Tendency | None:
    """The test of the points of some cells; None where there is but one row.

    Missing cells, all at the mean of their column, would be a mode of their own. In their places
    stand cells of other rows, drawn by chance.
    """
    if len(points) < 2:
        return None
    rng, filled = np.random.RandomState(seed), points.copy()
    for places, column in zip(ready.spans, cells.cells, strict=True):
        missing = missing_cells(column)
        known = np.flatnonzero(~missing)
        if missing.any() and known.size:
            filled[missing, places] = points[rng.choice(known, int(missing.sum())), places]
    return tendency(filled, random_state=seed)


def needs_replay(ready: Prepared, tested: Tendency) -> bool:
    """Whether tendency alone does not tell: its chance is close to the level, or columns of few
    values, which look like modes, take part.
    """
    dips = 3 * min(tested.projection_p_value, tested.distances.p_value)
    return ready.has_levels or (dips > _SURE and tested.replay.p_value > _SURE_REPLAY)


def is_confirmed(replayed: NullReplay) -> bool:
    """Whether rows without structure hardly show such clusters."""
    return replayed.p_value <= _LEVEL
