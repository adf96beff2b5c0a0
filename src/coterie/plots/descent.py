"""The picture of a fit: how the objective falls with each half-step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coterie.plots._style import INK, color_of, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["descent"]


def descent(history: Sequence[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw the objective after each assignment and each update.

    An alternating method improves its objective twice an iteration: once when rows choose their
    clusters, once when the clusters move. The line goes down both stairs.

    Parameters
    ----------
    history
        `history_` of a fitted model: entries with "iteration", "objective_assign" and
        "objective_update".
    ax
        Axes to draw into; None for a new figure.

    Returns
    -------
    Axes
        The axes drawn into.
    """
    if not history:
        raise ValueError("descent: the history is empty; pass history_ of a fitted model.")
    ax = new_axes() if ax is None else ax
    from matplotlib.ticker import MaxNLocator

    assign_at = [entry["iteration"] for entry in history]
    update_at = [iteration + 0.5 for iteration in assign_at]
    assigned = [entry["objective_assign"] for entry in history]
    updated = [entry["objective_update"] for entry in history]

    times = [time for pair in zip(assign_at, update_at, strict=True) for time in pair]
    stairs = [value for pair in zip(assigned, updated, strict=True) for value in pair]
    ax.step(times, stairs, where="post", color=INK, linewidth=1, alpha=0.5, zorder=1)
    shared: dict[str, Any] = {"s": 44, "zorder": 2, "linewidths": 0}
    ax.scatter(assign_at, assigned, marker="o", c=color_of(0), label="rows assigned", **shared)
    ax.scatter(update_at, updated, marker="s", c=color_of(1), label="centres moved", **shared)
    ax.set(xlabel="iteration", ylabel="objective (sum of squared errors)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, labelcolor=INK, fontsize=11)
    plain(ax)
    return ax
