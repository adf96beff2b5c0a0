"""The picture of a choice of k: every criterion in its own units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.plots._style import INK, NOISE_COLOR, color_of, new_axes, plain, printable
from coterie.select import Curve, KChoice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["k_curves"]


def k_curves(choice: KChoice, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a small panel for each criterion along the number of clusters.

    Each has its own units, with bars of one standard error where it has them and a ring at its
    pick. The dashed line stands at the k that is recommended; criteria that are seldom counted are
    grey. `KChoice.plot` draws the same curves over each other, scaled.

    Parameters
    ----------
    choice
        What `coterie.select.choose_k` returned.
    ax
        Axes to draw into, divided among the criteria; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into; its `child_axes` are the panels, in the order of `choice.curves`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.plots import k_curves
    >>> from coterie.select import choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 1.0, (50, 2)) for m in (0, 8)])
    >>> found = choose_k(X, KMeans(), 4, criterion=["silhouette", "gap"], random_state=0)
    >>> [panel.get_title() for panel in k_curves(found).child_axes]
    ['silhouette', 'gap']
    """
    ax = new_axes() if ax is None else ax
    ax.set_axis_off()
    n_panels = len(choice.curves)
    n_across = min(n_panels, int(np.ceil(np.sqrt(1.5 * n_panels))))
    n_down = -(-n_panels // n_across)
    gap_x, gap_y = 0.28 / n_across, 0.34 / n_down
    width = (1 - gap_x * (n_across - 1)) / n_across
    height = (1 - gap_y * (n_down - 1)) / n_down
    for place, (name, curve) in enumerate(choice.curves.items()):
        down, across = divmod(place, n_across)
        bottom = 1 - height - down * (height + gap_y)
        panel = ax.inset_axes((across * (width + gap_x), bottom, width, height))
        _draw_curve(panel, choice, curve)
        panel.set_title(printable(name).replace("_", " "), color=INK, fontsize=10)
        if place + n_across >= n_panels:
            panel.set_xlabel("clusters", color=INK, fontsize=10)
    ax.set_title(printable(title or ""), color=INK, fontsize=14, pad=24)
    return ax


def _draw_curve(ax: Axes, choice: KChoice, curve: Curve) -> None:
    """One criterion: its line, its errors, its pick, and what all recommend."""
    from matplotlib.ticker import MaxNLocator

    color = NOISE_COLOR if curve.weak else color_of(0)
    ax.plot(choice.ks, curve.values, color=color, linewidth=1.6, marker=".", zorder=2)
    if curve.errors is not None:
        ax.errorbar(
            choice.ks, curve.values, yerr=curve.errors, fmt="none", ecolor=color, elinewidth=1,
            zorder=2,
        )  # fmt: skip
    if curve.pick is not None:
        at = choice.ks.index(curve.pick)
        ax.scatter(
            [curve.pick], [curve.values[at]], s=70, facecolors="none", edgecolors=color_of(1),
            linewidths=2, zorder=3,
        )  # fmt: skip
    if choice.k is not None:
        ax.axvline(choice.k, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    plain(ax)
    ax.tick_params(labelsize=8)
    ax.margins(y=0.15)
    # One tick is enough: of a single k there is no second whole number.
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.ticklabel_format(axis="y", scilimits=(-3, 4))
    ax.yaxis.get_offset_text().set(fontsize=8, color=INK)
