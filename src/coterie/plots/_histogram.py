"""The picture of one column in clusters: stacked bars, centres, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._style import INK, color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

#: Centres of more clusters than this are drawn without numbers.
MOST_NUMBERED = 40


def draw_histogram(
    ax: Axes,
    values: Floats,
    labels: npt.NDArray[Any],
    clusters: Sequence[int],
    centers: Floats | None,
    name: str,
) -> None:
    """One column: stacked bars, a numbered line at every centre."""
    from matplotlib.ticker import MaxNLocator

    n_bins = int(np.clip(2 * np.sqrt(len(values)), 10, 80))
    ax.hist(
        [values[labels == cluster] for cluster in clusters],
        bins=np.histogram_bin_edges(values, bins=n_bins).tolist(),
        stacked=True,
        color=[color_of(cluster) for cluster in clusters],
        edgecolor="white",
        linewidth=0.5,
    )
    if centers is not None:
        at_the_top = ax.get_xaxis_transform()
        for cluster, center in enumerate(centers[:, 0]):
            ax.axvline(center, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
            if len(centers) <= MOST_NUMBERED:
                ax.text(
                    center,
                    0.97,
                    str(cluster),
                    transform=at_the_top,
                    color=INK,
                    ha="center",
                    va="center",
                    bbox={"boxstyle": "circle", "fc": "white", "ec": color_of(cluster), "lw": 2},
                )
        ax.margins(y=0.12)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))  # rows come whole
    ax.set(xlabel=name, ylabel="rows")


def tint_intervals(ax: Axes, sites: Floats) -> None:
    """Of one column: the interval that is nearest to each centre."""
    order = np.argsort(sites)
    low, high = ax.get_xlim()
    borders = np.concatenate([[low], (sites[order][1:] + sites[order][:-1]) / 2, [high]])
    for cluster, left, right in zip(order.tolist(), borders, borders[1:], strict=False):
        ax.axvspan(left, right, color=color_of(cluster), alpha=0.14, linewidth=0, zorder=0)
    ax.set_xlim(low, high)
