"""The picture of the stages of a fit: how long each took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie._history import durations
from coterie.plots._entries import History, entries_of
from coterie.plots._style import INK, color_of, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["stages"]


def stages(history: History | Any, ax: Axes | None = None) -> Axes:
    """Draw a bar for each stage of a fit, from top to bottom, as long as it took.

    In milliseconds where none took a second.

    Methods that do not iterate have stages: neighbours, tree, cut. Of one that iterates, see
    `descent`.

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
    >>> from coterie import HDBSCAN
    >>> from coterie.plots import stages
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = stages(HDBSCAN().fit(X).history_)
    >>> [stage.get_text() for stage in ax.get_yticklabels()]
    ['mutual reachability tree', 'single linkage', 'condensed tree']
    """
    took = durations(entries_of(history, "stages"))
    if not took:
        raise ValueError("stages: the history has iterations and no stages; use descent.")
    ax = new_axes() if ax is None else ax
    seconds = [stage.seconds for stage in took]
    unit, sign, scale = ("seconds", "s", 1) if max(seconds) >= 1 else ("milliseconds", "ms", 1000)
    lengths = [scale * length for length in seconds]
    ax.barh(range(len(took)), lengths, color=color_of(0), height=0.6)
    for place, length in enumerate(lengths):
        ax.annotate(
            f"{length:.3g} {sign}", (length, place), xytext=(5, 0), textcoords="offset points",
            va="center", color=INK, fontsize=11,
        )  # fmt: skip
    ax.set_yticks(range(len(took)), [stage.stage for stage in took])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set(xlabel=unit)
    plain(ax)
    return ax
