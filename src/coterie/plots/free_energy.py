"""The picture of the free energy of EM: its two terms and their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._history import iterations
from coterie.plots._entries import History, entries_of
from coterie.plots._style import INK, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["free_energy"]


def free_energy(
    history: History | Any, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw the free energy of every E-step and its two terms, as changes from the first.

    F = energy - entropy of the responsibilities. EM lowers F, and so raises the log-likelihood,
    while either term alone may rise.

    Parameters
    ----------
    history
        A fitted mixture, or its `history_`.
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
    >>> from coterie import GaussianMixture
    >>> from coterie.plots import free_energy
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = free_energy(GaussianMixture(2, tol=0.01, random_state=0).fit(X))
    >>> [line.get_label() for line in ax.lines[:3]]
    ['energy', 'minus entropy', 'free energy']
    """
    from matplotlib.ticker import MaxNLocator

    entries = iterations(entries_of(history, "free_energy"))
    if not entries or any("energy" not in entry for entry in entries):
        raise ValueError(
            "free_energy: the history has no energy and neg_entropy; pass that of a mixture, or "
            "use descent."
        )
    at = [entry["iteration"] for entry in entries]
    energy = np.array([entry["energy"] for entry in entries])
    neg_entropy = np.array([entry["neg_entropy"] for entry in entries])
    # Of a mixture with a prior the objective holds its logarithm, too.
    whole = np.array([entry["objective_assign"] for entry in entries])
    ax = new_axes() if ax is None else ax
    for place, (name, values, style) in enumerate(
        (
            ("energy", energy, (0, (5, 2))),
            ("minus entropy", neg_entropy, (0, (1, 1.4))),
            ("free energy", whole, "-"),
        )
    ):
        ax.plot(
            at, values - values[0], color=color_of(place), linestyle=style, linewidth=1.8,
            marker=".", markersize=4, label=name,
        )  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.6, zorder=0)
    ax.set(xlabel="iteration", ylabel="change since the first E-step, nats")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, labelcolor=INK, fontsize=11)
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax
