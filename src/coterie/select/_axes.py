"""Axes along numbers of clusters: marks that do not run into each other, a legend beside curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Marks that an axis of usual width has room for.
_MARKS = 12


def some_ticks(ks: Sequence[int]) -> list[int]:
    """All numbers, or of many every second, fifth, tenth, ... beside the first."""
    for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        marks = [k for k in ks if step == 1 or k == ks[0] or k % step == 0]
        if len(marks) <= _MARKS:
            return marks
    return [ks[0], ks[-1]]


def legend_above(ax: Any) -> None:
    """A legend over the axes, where no curve runs; the axes make room for it."""
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return
    n_cols = 2 if max(map(len, labels)) > 16 and len(labels) > 1 else min(3, len(labels))
    n_lines = -(-len(labels) // n_cols)
    own = ax.get_position()
    height = ax.get_figure().get_size_inches()[1]
    # A line of the legend is about a fifth of an inch high.
    top = min(own.y1, 0.97 - 0.2 * n_lines / height)
    if top > own.y0 + 0.2:
        ax.set_position([own.x0, own.y0, own.width, top - own.y0])
    ax.legend(
        frameon=False, ncols=n_cols, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2,
        fontsize="small",
    )  # fmt: skip
