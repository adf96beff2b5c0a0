"""The picture of a choice of mixture: BIC or ICL by number of components and covariance type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.plots._style import INK, color_of, new_axes, plain, printable
from coterie.select import MixtureChoice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mixture_curves"]

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def mixture_curves(
    choice: MixtureChoice, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw the criterion along the number of components, a line for each covariance type.

    Lower is better. The best of all is ringed; mixtures with a collapsed component are not drawn,
    since their criterion means nothing.

    Parameters
    ----------
    choice
        What `coterie.select.select_mixture` returned.
    ax
        Axes to draw into; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plots import mixture_curves
    >>> from coterie.select import select_mixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 1.0, (50, 2)) for m in (0, 8)])
    >>> ax = mixture_curves(select_mixture(X, 3, random_state=0))
    >>> len(ax.lines), ax.get_ylabel()
    (4, 'BIC, lower is better')
    """
    from matplotlib.ticker import MaxNLocator

    ax = new_axes() if ax is None else ax
    sound = sorted((one for one in choice.candidates if not one.degenerate), key=lambda c: c.k)
    kinds = dict.fromkeys(
        (one.family, one.covariance_type)
        for one in sorted(choice.candidates, key=lambda c: (c.family, c.covariance_type))
    )
    several = len({family for family, _ in kinds}) > 1
    for place, (family, kind) in enumerate(kinds):
        line = [one for one in sound if (one.family, one.covariance_type) == (family, kind)]
        ax.plot(
            [one.k for one in line], [getattr(one, choice.criterion) for one in line],
            color=color_of(place), linewidth=1.6, marker=_MARKERS[place % len(_MARKERS)],
            markersize=5, label=f"{family} {kind}" if several else kind,
        )  # fmt: skip
    best = choice.best
    ax.scatter(
        [best.k], [getattr(best, choice.criterion)], s=200, facecolors="none", edgecolors=INK,
        linewidths=1.8, zorder=4, label=f"best: {best.covariance_type}, {best.k}",
    )  # fmt: skip
    ax.set(xlabel="components", ylabel=f"{choice.criterion.upper()}, lower is better")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, labelcolor=INK
    )
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax
