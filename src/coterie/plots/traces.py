"""The picture of several fits: how the objective of each falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coterie._history import iterations
from coterie.plots._entries import entries_of
from coterie.plots._style import INK, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["traces"]

_LINES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (5, 1.5, 1, 1.5)))


def traces(
    histories: Mapping[str, Any] | Sequence[Any],
    *,
    gap: bool = False,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the objective of several fits along their iterations, a line each.

    Starts, solvers or numbers of clusters are compared so. Of one fit, `descent` shows both
    half-steps.

    Parameters
    ----------
    histories
        Fitted models or their `history_`, by name or in a list.
    gap
        Draw instead how far each is above the lowest objective of all, on a logarithmic axis: the
        slope is the speed of convergence. The lowest itself is not drawn.
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
    >>> from coterie import KMeans
    >>> from coterie.plots import traces
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> fits = {f"start {i}": KMeans(5, n_init=1, random_state=i).fit(X) for i in range(3)}
    >>> len(traces(fits).lines)
    3
    """
    from matplotlib.ticker import MaxNLocator

    named = histories if isinstance(histories, Mapping) else dict(enumerate(histories))
    if not named:
        raise ValueError("traces: no history was given; pass at least one.")
    runs = {name: iterations(entries_of(given, "traces")) for name, given in named.items()}
    for name, entries in runs.items():
        if not entries:
            raise ValueError(
                f"traces: the history {name!r} has stages and no iterations; use stages."
            )
    lowest = min(entry["objective_update"] for entries in runs.values() for entry in entries)
    ax = new_axes() if ax is None else ax
    for place, (name, entries) in enumerate(runs.items()):
        values = [entry["objective_update"] - (lowest if gap else 0.0) for entry in entries]
        if gap:
            values = [value if value > 0 else float("nan") for value in values]
        ax.plot(
            [entry["iteration"] for entry in entries], values, color=color_of(place),
            linestyle=_LINES[place % len(_LINES)], linewidth=1.8, marker=".", markersize=5,
            label=printable(name),
        )  # fmt: skip
    first = next(iter(runs.values()))[0]
    what = first.get("objective_name", "objective")
    ax.set(xlabel=first.get("step_name", "iteration"), ylabel=what)
    if gap:
        ax.set(yscale="log", ylabel=f"{what}, above the lowest")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, labelcolor=INK, fontsize=11)
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax
