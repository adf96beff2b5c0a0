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
    >>> stages(HDBSCAN().fit(X).history_).get_xlabel()
    'seconds'
    """
    took = durations(entries_of(history, "stages"))
    if not took:
        raise ValueError("stages: the history has iterations and no stages; use descent.")
    ax = new_axes() if ax is None else ax
    seconds = [stage.seconds for stage in took]
    ax.barh(range(len(took)), seconds, color=color_of(0), height=0.6)
    for place, length in enumerate(seconds):
        told = f"{length:.3g} s" if length >= 1 else f"{1000 * length:.3g} ms"
        ax.annotate(
            told, (length, place), xytext=(5, 0), textcoords="offset points",
            va="center", color=INK, fontsize=11,
        )  # fmt: skip
    ax.set_yticks(range(len(took)), [stage.stage for stage in took])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set(xlabel="seconds")
    plain(ax)
    return ax
