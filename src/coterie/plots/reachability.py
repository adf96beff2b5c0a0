"""The picture of reachability: valleys are clusters."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.plots._style import INK, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reachability"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def reachability(
    tree: Any,
    labels: npt.ArrayLike | None = None,
    *,
    eps: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how far each row is from those before it, in the order in which they are reached.

    From the first row always the nearest row that is not yet there is taken, by the edges of a
    spanning tree; with HDBSCAN's, whose lengths are mutual reachabilities, it is the plot of
    OPTICS (Ankerst et al. 1999) without a limit. A cluster is a valley, noise is a peak, and a
    horizontal line at some eps cuts the valleys that DBSCAN would find. O(n log n) time.

    Parameters
    ----------
    tree
        A fitted HDBSCAN; its `spanning_tree_`; or what `coterie.spanning_tree` returned: `heads`,
        `tails` and `lengths`.
    labels
        Cluster of each row, for the colours; None for those of the model, or one colour.
    eps
        Where to draw a line; None for none.
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
    >>> from coterie.plots import reachability
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(9, 1, (50, 2))])
    >>> reachability(HDBSCAN(min_cluster_size=10).fit(X)).get_xlabel()
    'rows, as they are reached'
    """
    heads, tails, lengths = _edges(tree)
    n_rows = lengths.size + 1
    if labels is None:
        labels = getattr(tree, "labels_", np.zeros(n_rows, dtype=np.int64))
    own = np.asarray(labels)
    if own.shape != (n_rows,) or own.dtype.kind not in "iu":
        raise ValueError(
            f"reachability: labels have shape {own.shape} and type {own.dtype} and the tree spans "
            f"{n_rows} rows; pass a whole number for each."
        )
    order, heights = reach(heads, tails, lengths)
    own = own[order]
    ax = new_axes() if ax is None else ax
    edges = np.arange(n_rows + 1) - 0.5
    for cluster in distinct(own).tolist():
        bars = np.where(own == cluster, heights, 0.0)
        ax.fill_between(
            edges, np.append(bars, bars[-1]), step="post", color=color_of(cluster), linewidth=0,
            label="noise" if cluster < 0 else str(cluster),
        )  # fmt: skip
    if eps is not None:
        ax.axhline(eps, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
        ax.annotate(
            f"eps = {eps:.3g}", (1.0, eps), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", color=INK, annotation_clip=False,
        )  # fmt: skip
    ax.set(xlabel="rows, as they are reached", ylabel="reachability")
    ax.set_xlim(-0.5, n_rows - 0.5)
    ax.set_ylim(bottom=0)
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax


def _edges(tree: Any) -> tuple[Ints, Ints, Floats]:
    """Heads, tails and lengths of a tree, in whatever holds them."""
    given = getattr(tree, "spanning_tree_", tree)
    held = given if isinstance(given, Mapping) else getattr(given, "__dict__", {})
    found = [held.get(name) for name in ("heads", "tails", "lengths")]
    if any(part is None for part in found):
        raise ValueError(
            f"reachability: a {type(tree).__name__} without heads, tails and lengths was given; "
            "pass a fitted HDBSCAN or what coterie.spanning_tree returned."
        )
    heads, tails, lengths = (np.asarray(part) for part in found)
    return heads.astype(np.int64), tails.astype(np.int64), lengths.astype(np.float64)


def reach(heads: Ints, tails: Ints, lengths: Floats) -> tuple[Ints, Floats]:
    """Prim's order of the rows from row 0 along a spanning tree, and the edge that led to each.

    The first row was reached from nowhere: it gets the longest edge, so that it begins no valley.
    """
    n_rows = lengths.size + 1
    near: list[list[tuple[float, int]]] = [[] for _ in range(n_rows)]
    edges = zip(heads.tolist(), tails.tolist(), lengths.tolist(), strict=True)
    for head, tail, length in edges:
        near[head].append((length, tail))
        near[tail].append((length, head))
    order, heights = [], []
    reached = [False] * n_rows
    waiting = [(float(lengths.max(initial=0.0)), 0)]
    while waiting:
        length, row = heapq.heappop(waiting)
        if not reached[row]:
            reached[row] = True
            order.append(row)
            heights.append(length)
            for edge in near[row]:
                heapq.heappush(waiting, edge)
    return np.array(order, dtype=np.int64), np.array(heights)
