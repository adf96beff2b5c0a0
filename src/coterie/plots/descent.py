"""The picture of a descent: how the objective of a fit falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie._history import iterations
from coterie.plots._entries import History, entries_of
from coterie.plots._style import INK, color_of, new_axes, plain
from coterie.plots.stages import stages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["descent"]


def descent(history: History | Any, ax: Axes | None = None) -> Axes:
    """Draw the objective after each assignment and each update.

    An alternating method improves its objective twice per iteration: once when rows choose their
    clusters, once when the clusters move. The line goes down both stairs. Methods with one value
    per iteration have one line: mini-batches (the smoothed estimate, which may rise), bisecting
    (after each split), gradient solvers. Of a method that does not iterate the `stages` are drawn.

    Parameters
    ----------
    history
        A fitted model, or its `history_`.
    ax
        Axes to draw into; None for a new figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.plots import descent
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> descent(KMeans(2, random_state=0).fit(X).history_).get_ylabel()
    'objective (sum of squared errors)'
    """
    entries = iterations(entries_of(history, "descent"))
    if not entries:
        return stages(history, ax)
    ax = new_axes() if ax is None else ax
    _draw_objective(ax, entries)
    plain(ax)
    return ax


def _draw_objective(ax: Axes, entries: History) -> None:
    """Stairs where both half-steps are known to differ, a line otherwise."""
    from matplotlib.ticker import MaxNLocator

    at = [entry["iteration"] for entry in entries]
    updated = [entry["objective_update"] for entry in entries]
    assigned = [
        entry.get("objective_assign", value) for entry, value in zip(entries, updated, strict=True)
    ]
    first = entries[0]
    shared: dict[str, Any] = {"s": 44, "zorder": 2, "linewidths": 0}
    if (assigned == updated and "shift" not in first) or "objective_assign" not in first:
        ax.plot(at, updated, color=INK, linewidth=1, alpha=0.5, zorder=1)
        ax.scatter(at, updated, marker="s", c=color_of(1), **shared)
    else:
        update_at = [iteration + 0.5 for iteration in at]
        times = [time for pair in zip(at, update_at, strict=True) for time in pair]
        stairs = [value for pair in zip(assigned, updated, strict=True) for value in pair]
        ax.step(times, stairs, where="post", color=INK, linewidth=1, alpha=0.5, zorder=1)
        halves = ("E-step", "M-step") if "energy" in first else ("rows assigned", "centres moved")
        ax.scatter(at, assigned, marker="o", c=color_of(0), label=halves[0], **shared)
        ax.scatter(update_at, updated, marker="s", c=color_of(1), label=halves[1], **shared)
        ax.legend(frameon=False, labelcolor=INK, fontsize=11)
    # Histories of older files do not say what they are about.
    name = first.get("objective_name")
    ax.set(
        xlabel=first.get("step_name", "iteration"),
        ylabel="objective" if name is None else f"objective ({name})",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
