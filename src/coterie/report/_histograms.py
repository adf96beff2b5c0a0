"""The distribution of a column inside a cluster against the rows outside, ready to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: The size of a small drawing, in its own units.
WIDTH, HEIGHT = 200, 60
#: Levels that are shown one by one.
_MOST_LEVELS = 6


def panel(profile: dict[str, Any], cluster: int) -> dict[str, Any]:
    """What the page draws of one column for the cluster at a place of the list.

    `apart` is the total variation distance of the two distributions: 0 if they are the same, 1 if
    they share no value.
    """
    mine = np.asarray(profile["by_cluster"][cluster], dtype=np.float64)
    rest = np.asarray(profile["all"], dtype=np.float64) - mine
    mine, rest = _shares(mine), _shares(rest)
    drawn: dict[str, Any] = {
        "column": profile["column"],
        "kind": profile["kind"],
        "apart": float(np.abs(mine - rest).sum() / 2),
    }
    if profile["kind"] == "numeric":
        top = max(mine.max(initial=0), rest.max(initial=0)) or 1.0
        edges = np.asarray(profile["edges"], dtype=np.float64)
        low, high = (profile.get(end) for end in ("least", "most"))  # which came later
        drawn |= {"low": edges[0] if low is None else low}
        drawn |= {"high": edges[-1] if high is None else high}
        drawn |= {"mine": steps(edges, mine / top), "rest": steps(edges, rest / top)}
    else:
        drawn["levels"], drawn["n_more"] = _levels(profile["levels"], mine, rest)
    return drawn


def steps(edges: Sequence[float] | Floats, heights: Sequence[float] | Floats) -> str:
    """An SVG path around bars; heights are parts of the drawing's."""
    edges = np.asarray(edges, dtype=np.float64)
    span = edges[-1] - edges[0] or 1.0
    at = np.round((edges - edges[0]) / span * WIDTH, 1)
    top = np.round(HEIGHT * (1 - np.asarray(heights, dtype=np.float64)), 1)
    corners = [f"M{at[0]:g} {HEIGHT}"]
    for height, right in zip(top, at[1:], strict=True):
        corners.append(f"V{height:g}H{right:g}")
    return "".join(corners) + f"V{HEIGHT}"


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total else counts


def _levels(levels: list[str], mine: Floats, rest: Floats) -> tuple[list[dict[str, Any]], int]:
    """The most frequent levels with their shares, and how many more there are."""
    order = np.argsort(-np.maximum(mine, rest), kind="stable")[:_MOST_LEVELS]
    rows = [
        {"level": levels[i], "mine": float(mine[i]), "rest": float(rest[i])}
        for i in sorted(order.tolist())
    ]
    return rows, len(levels) - len(rows)
