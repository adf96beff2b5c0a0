"""The picture of a fit: how the objective falls, or how long its stages took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coterie.plots._style import INK, color_of, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["descent"]

History = Sequence[Mapping[str, Any]]


def descent(history: History | Any, ax: Axes | None = None) -> Axes:
    """Draw the objective after each assignment and each update.

    An alternating method improves its objective twice an iteration: once when rows choose their
    clusters, once when the clusters move. The line goes down both stairs. Methods with one value
    an iteration have one line: mini-batches (the smoothed estimate, which may rise), bisecting
    (after each split), gradient solvers. Of a method in stages (HDBSCAN) the time of each is drawn.

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
    """
    model, entries = None, history
    if hasattr(history, "get_params") or hasattr(history, "history_"):
        model, entries = history, getattr(history, "history_", None)
        if entries is None:
            raise ValueError(
                f"descent: this {type(model).__name__} has no history_, as it is not fitted or "
                "neither iterates nor has stages; fit a model that does, such as KMeans."
            )
    if not len(entries):
        raise ValueError("descent: the history is empty; pass history_ of a fitted model.")
    known = {"stage"}, {"iteration", "objective_update"}
    if not any(keys <= set(entry) for keys in known for entry in entries[:1]):
        raise ValueError(
            f"descent: an entry of the history has {', '.join(map(str, entries[0]))}, and "
            "'iteration' and 'objective_update' are drawn, or 'stage'; pass history_ of a fitted "
            "model."
        )
    ax = new_axes() if ax is None else ax
    if "stage" in entries[0]:
        _draw_stages(ax, entries)
    else:
        _draw_objective(ax, entries, model)
    plain(ax)
    return ax


def _draw_stages(ax: Axes, entries: History) -> None:
    """A bar a stage, from top to bottom, as long as it took."""
    ends = [entry["seconds"] for entry in entries]
    took = [end - start for start, end in zip([0.0, *ends], ends, strict=False)]
    ax.barh(range(len(took)), took, color=color_of(0), height=0.6)
    for place, seconds in enumerate(took):
        ax.annotate(
            f"{seconds:.3g} s", (seconds, place), xytext=(5, 0), textcoords="offset points",
            va="center", color=INK, fontsize=11,
        )  # fmt: skip
    ax.set_yticks(range(len(took)), [entry["stage"] for entry in entries])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set(xlabel="seconds")


def _draw_objective(ax: Axes, entries: History, model: Any) -> None:
    """Stairs where both half-steps are known to differ, a line otherwise."""
    from matplotlib.ticker import MaxNLocator

    objective, step = _names(entries[0], model)
    at = [entry["iteration"] for entry in entries]
    updated = [entry["objective_update"] for entry in entries]
    assigned = [
        entry.get("objective_assign", value) for entry, value in zip(entries, updated, strict=True)
    ]
    shared: dict[str, Any] = {"s": 44, "zorder": 2, "linewidths": 0}
    if (assigned == updated and "shift" not in entries[0]) or "objective_assign" not in entries[0]:
        ax.plot(at, updated, color=INK, linewidth=1, alpha=0.5, zorder=1)
        ax.scatter(at, updated, marker="s", c=color_of(1), **shared)
    else:
        update_at = [iteration + 0.5 for iteration in at]
        times = [time for pair in zip(at, update_at, strict=True) for time in pair]
        stairs = [value for pair in zip(assigned, updated, strict=True) for value in pair]
        ax.step(times, stairs, where="post", color=INK, linewidth=1, alpha=0.5, zorder=1)
        halves = (
            ("E-step", "M-step") if "energy" in entries[0] else ("rows assigned", "centres moved")
        )
        ax.scatter(at, assigned, marker="o", c=color_of(0), label=halves[0], **shared)
        ax.scatter(update_at, updated, marker="s", c=color_of(1), label=halves[1], **shared)
        ax.legend(frameon=False, labelcolor=INK, fontsize=11)
    ax.set(xlabel=step, ylabel=f"objective ({objective})")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _names(entry: Mapping[str, Any], model: Any) -> tuple[str, str]:
    """What the objective and a step of it are called; an entry has what its method records."""
    if "energy" in entry:
        return "free energy", "iteration"
    if getattr(model, "metric", None) == "cosine":
        return "sum of squared errors on the sphere", "iteration"
    if "objective_assign" in entry:
        return "sum of squared errors", "iteration"
    if "shift" in entry:
        return "smoothed sum of squared errors", "step"
    return "sum of squared errors", "split"
