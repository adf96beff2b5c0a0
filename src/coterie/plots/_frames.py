"""The frames of a film: what each half-step of k-means or EM shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.plots._gaussians import Components, components_of

Floats = npt.NDArray[np.float64]


class Frame(NamedTuple):
    """One picture: who the rows are coloured by, where the centres are, and what is said.

    `owners` are the parameters that rows choose by, None before any are known; `centers` those that
    are drawn, and `moved_from` where they were in the frame before.
    """

    caption: str
    owners: Any
    centers: Any
    moved_from: Floats | None


def frames_of(entries: Sequence[Mapping[str, Any]], start: Any, who: str) -> list[Frame]:
    """Two frames for each iteration: rows choose by the centres there are, then centres move.

    Without a start the first iteration has only the second, as nobody knows what rows chose by.
    """
    if any("parameters" not in entry for entry in entries):
        raise ValueError(
            f'{who}: the history has no parameters; fit with keep="parameters" to store them.'
        )
    soft = "energy" in entries[0]
    if soft:
        states: list[Any] = [components_of(dict(entry), who) for entry in entries]
        start = None if start is None else components_of(start, who)
    else:
        states = [np.asarray(entry["parameters"], dtype=np.float64) for entry in entries]
        start = None if start is None else np.asarray(start, dtype=np.float64)
    name = entries[0].get("objective_name", "objective")
    words = ("E-step", "M-step") if soft else ("rows choose", "centres move")
    found = []
    before = start
    if start is not None:
        found.append(Frame("start", None, start, None))
    for entry, after in zip(entries, states, strict=True):
        told = f"iteration {entry['iteration']}: "
        # A history with one value per iteration (mini-batches) has no first half.
        if before is not None and "objective_assign" in entry:
            value = entry["objective_assign"]
            found.append(Frame(f"{told}{words[0]}, {name} {value:.5g}", before, before, None))
        value = entry["objective_update"]
        came_from = None if before is None else places_of(before)
        if came_from is not None and came_from.shape != places_of(after).shape:
            came_from = None  # a centre more, as in bisecting k-means
        owners = before if before is not None else after
        if "objective_assign" not in entry:
            owners = after
        found.append(Frame(f"{told}{words[1]}, {name} {value:.5g}", owners, after, came_from))
        before = after
    return found


def places_of(state: Any) -> Floats:
    """Centres or means."""
    return state.means if isinstance(state, Components) else np.asarray(state)
