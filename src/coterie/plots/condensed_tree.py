"""The picture of HDBSCAN's condensed tree: clusters that thin out and split as density rises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.plots._style import INK, NOISE_COLOR, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["condensed_tree"]

Floats = npt.NDArray[np.float64]
_NEEDED = ("row_cluster", "row_lambda", "parent", "size", "birth", "death", "label")


class Icicle(NamedTuple):
    """A cluster as it is drawn: about `middle`, so many rows wide from each density on."""

    middle: float
    densities: Floats
    widths: Floats


def condensed_tree(tree: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a condensed tree from the top: all rows, then what is left of each cluster.

    Density (1 / distance) rises downwards. A cluster is as wide as it has rows; it narrows as rows
    fall from it and ends where it splits in two or its last rows fall. Those that were selected
    have the colour of their label, others are grey.

    Parameters
    ----------
    tree
        A fitted HDBSCAN, or its `condensed_tree_`.
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
    >>> from coterie import HDBSCAN
    >>> from coterie.plots import condensed_tree
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(9, 1, (50, 2))])
    >>> model = HDBSCAN(min_cluster_size=10).fit(X)
    >>> ax = condensed_tree(model)
    >>> len(ax.collections) == len(model.condensed_tree_["parent"])
    True
    """
    parts = _parts(tree)
    finite = parts["row_lambda"][np.isfinite(parts["row_lambda"])]
    deepest = float(finite.max(initial=0.0)) or 1.0
    selected = _selected(parts)
    ax = new_axes() if ax is None else ax
    for cluster, icicle in enumerate(lay_icicles(parts, deepest)):
        label = int(parts["label"][cluster])
        chosen = selected[cluster]
        ax.fill_betweenx(
            icicle.densities, icicle.middle - icicle.widths / 2, icicle.middle + icicle.widths / 2,
            step="post", color=color_of(label) if chosen else NOISE_COLOR,
            alpha=0.95 if chosen else 0.35 if label < 0 else 0.55, linewidth=0,
        )  # fmt: skip
        if chosen:
            root = parts["parent"][cluster] < 0  # begins at the edge: its label has room below
            ax.annotate(
                f"{label}", (icicle.middle, icicle.densities[0]), xytext=(0, -12 if root else 4),
                textcoords="offset points", ha="center", va="top" if root else "bottom",
                color=INK, fontsize=11,
                bbox={"fc": "white", "ec": color_of(label), "boxstyle": "circle", "lw": 1.6},
            )  # fmt: skip
    n_rows = parts["row_cluster"].size
    ax.set(xlim=(-0.02 * n_rows, 1.02 * n_rows), ylim=(deepest, 0))
    ax.set(xlabel=f"rows ({n_rows:,} in all)", ylabel="density, 1 / distance")
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax


def _parts(tree: Any) -> Mapping[str, npt.NDArray[Any]]:
    """The arrays of a tree, of a model or as they are."""
    given = getattr(tree, "condensed_tree_", tree)
    if not isinstance(given, Mapping) or not set(_NEEDED) <= set(given):
        raise ValueError(
            f"condensed_tree: a {type(tree).__name__} without {', '.join(_NEEDED)} was given; pass "
            "a fitted HDBSCAN or its condensed_tree_."
        )
    return {name: np.asarray(given[name]) for name in _NEEDED}


def _selected(parts: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Which clusters are a label, rather than lie within one: their parents have another."""
    label, parent = parts["label"], parts["parent"]
    above = np.where(parent >= 0, label[np.maximum(parent, 0)], -1)
    return np.asarray((label >= 0) & (above != label))


def lay_icicles(parts: Mapping[str, npt.NDArray[Any]], deepest: float) -> list[Icicle]:
    """Where each cluster is drawn; parents come first, so one pass places all. O(n log n) time.

    The children of a cluster stand side by side about its middle, in the order of their numbers.
    """
    parent, size = parts["parent"], parts["size"].astype(np.float64)
    middles = np.empty(parent.size)
    middles[0] = parts["row_cluster"].size / 2
    order = np.lexsort((parts["row_lambda"], parts["row_cluster"]))
    starts = np.searchsorted(parts["row_cluster"][order], np.arange(parent.size + 1))
    found = []
    for cluster in range(parent.size):
        children = np.flatnonzero(parent == cluster)
        left = middles[cluster] - size[children].sum() / 2
        for child in children:
            middles[child] = left + size[child] / 2
            left += size[child]
        falls = parts["row_lambda"][order[starts[cluster] : starts[cluster + 1]]]
        birth = float(parts["birth"][cluster])
        # Rows that fall as the children are born, or at no distance at all, end it.
        end = min(float(parts["death"][cluster]), deepest)
        falls = falls[falls < end]
        densities = np.concatenate([[birth], falls, [end]])
        widths = size[cluster] - np.concatenate([[0], np.arange(1, falls.size + 1), [falls.size]])
        found.append(Icicle(float(middles[cluster]), densities, widths))
    return found
