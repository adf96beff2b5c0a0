"""The picture of a choice of eps: sorted k-distances and their knee."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.plots._style import INK, NOISE_COLOR, color_of, new_axes, plain, printable
from coterie.select import EpsSuggestion, suggest_eps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["k_distances", "save_k_distances"]


def k_distances(suggestion: EpsSuggestion | Any, ax: Axes | None = None) -> Axes:
    """Draw the sorted k-distances, the chord between their ends, and eps.

    Rows left of where the curve meets eps are core. A knee is a dot, with a line to the chord as
    long as it is strong; without one, eps is a line alone. The band is the level: the range of eps
    in which the longest lasting clusters are apart.

    Parameters
    ----------
    suggestion
        What `coterie.select.suggest_eps` returned; or rows (an array or a data frame), for which
        it is asked.
    ax
        Axes to draw into; None for a new figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plots import k_distances
    >>> from coterie.select import suggest_eps
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(300, 2)), rng.uniform(-20, 20, size=(40, 2))])
    >>> k_distances(suggest_eps(X)).get_xlabel()
    'rows, sorted'
    """
    if not isinstance(suggestion, EpsSuggestion):
        suggestion = suggest_eps(suggestion)
    ax = new_axes() if ax is None else ax
    curve, knee = suggestion.curve, suggestion.knee
    last = len(curve) - 1
    first = int((curve <= 0).sum())  # after the copies
    ax.plot(range(len(curve)), curve, color=color_of(0), linewidth=2, zorder=3)
    ax.plot(
        [first, last], [curve[first], curve[last]],
        color=NOISE_COLOR, linewidth=1, linestyle=(0, (4, 3)), zorder=1,
    )  # fmt: skip
    ax.axhline(suggestion.eps, color=color_of(1), linewidth=1.2, zorder=2)
    told = f"eps = {suggestion.eps:.3g}"
    if suggestion.level is not None:
        low, high = suggestion.level.low, min(suggestion.level.high, curve[last])
        ax.axhspan(low, max(low, high), color=color_of(1), alpha=0.12, linewidth=0, zorder=0)
    if knee is None and suggestion.level is None:
        told += ", no knee: 99 of 100 rows core"
    elif knee is None:
        told += ", no knee"
    elif suggestion.eps > np.nextafter(curve[knee], np.inf) or suggestion.eps < curve[knee]:
        told += ", the end of the band next to the knee"
    if knee is not None:
        chord = curve[first] + (curve[last] - curve[first]) * (knee - first) / (last - first)
        ax.vlines(knee, curve[knee], chord, color=INK, linewidth=1, zorder=2)
        ax.scatter([knee], [curve[knee]], s=60, c=color_of(1), zorder=4)
        ax.annotate(
            f"knee, strength {suggestion.strength:.2f}", (knee, curve[knee]), xytext=(-8, 6),
            textcoords="offset points", ha="right", color=INK, fontsize=11,
        )  # fmt: skip
    ax.annotate(
        told, (0, suggestion.eps), xytext=(4, 5), textcoords="offset points",
        color=color_of(1), fontsize=11, bbox={"fc": "white", "ec": "none", "pad": 1},
    )  # fmt: skip
    neighbour = suggestion.min_samples - 1
    ax.set(xlabel="rows, sorted", ylabel=f"distance to neighbour {neighbour}")
    ax.set_ylim(bottom=0)
    plain(ax)
    return ax


def save_k_distances(
    path: str | os.PathLike[str], suggestion: EpsSuggestion, *, title: str | None = None
) -> None:
    """Draw `k_distances` on a figure of its own, 900 pixels wide, and write it to a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=100, layout="constrained")
    k_distances(suggestion, ax=figure.subplots()).set_title(printable(title or ""))
    figure.savefig(path)
