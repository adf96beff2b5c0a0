"""The picture of tendency: all distances, with rows in the order of a spanning tree (VAT)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.distance import pairwise
from coterie.plots._plane import even_sample
from coterie.plots._style import INK, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["vat"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def vat(
    X: npt.ArrayLike,
    metric: Any = "euclidean",
    *,
    paths: bool = False,
    max_rows: int = 1000,
    ax: Axes | None = None,
    title: str | None = None,
    **metric_params: Any,
) -> Axes:
    """Draw the distances of all rows to all, dark where they are near (Bezdek & Hathaway 2002).

    Rows are ordered as Prim's algorithm reaches them from one end of the longest distance, so a
    group of near rows is a dark square on the diagonal; without groups there are none. Time and
    memory are O(n^2): beyond `max_rows` a sample is drawn, and the axis says how many of how many.

    Parameters
    ----------
    X
        Rows, shape (n_rows, n_columns); or distances, (n_rows, n_rows), with
        ``metric="precomputed"``.
    metric, **metric_params
        As `coterie.distance.pairwise`.
    paths
        Whether to draw, in place of a distance, the longest step of the path along the spanning
        tree (iVAT, Havens & Bezdek 2012): groups of any shape become squares.
    max_rows
        Draw at most so many rows.
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
    >>> from coterie.plots import vat
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(9, 1, (30, 2))])
    >>> ax = vat(rng.permutation(X))
    >>> ax.images[0].get_array().shape
    (60, 60)
    """
    rows = X if hasattr(X, "shape") else np.asarray(X)
    n_rows = len(rows) if isinstance(rows, np.ndarray) else rows.shape[0]
    sample = np.arange(n_rows)[even_sample(n_rows, max_rows)]
    lengths = _lengths(rows, sample, metric, metric_params)
    order = prim_order(lengths)
    shown = lengths[np.ix_(order, order)]
    if paths:
        shown = path_lengths(shown)
    ax = new_axes() if ax is None else ax
    image = ax.imshow(shown, cmap="gray", interpolation="nearest" if len(order) < 300 else "auto")
    sampled = f" (a sample: {len(sample):,} of {n_rows:,})" if len(sample) < n_rows else ""
    ax.set(xlabel=f"rows, as a spanning tree reaches them{sampled}", ylabel="the same rows")
    plain(ax)
    figure = ax.get_figure()
    if figure is not None:
        # Beside the square itself, which would be pushed aside by a scale beside its place.
        scale = figure.colorbar(image, cax=ax.inset_axes((1.04, 0.1, 0.04, 0.8)))
        scale.set_label("longest step on the path" if paths else "distance", color=INK)
        scale.ax.tick_params(colors=INK, labelsize=9)
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax


def _lengths(rows: Any, sample: Ints, metric: Any, metric_params: dict[str, Any]) -> Floats:
    """Distances of the sampled rows."""
    if isinstance(metric, str) and metric == "precomputed":
        square = np.asarray(rows, dtype=np.float64)
        if square.ndim != 2 or square.shape[0] != square.shape[1]:
            raise ValueError(
                f"vat: distances have shape {square.shape}; pass a square table, or rows and the "
                "name of a metric."
            )
        return square[np.ix_(sample, sample)]
    table = np.asarray(rows) if not hasattr(rows, "iloc") else rows.to_numpy()
    return pairwise(table[sample], metric=metric, **metric_params)


def prim_order(lengths: Floats) -> Ints:
    """Rows as Prim's algorithm reaches them from an end of the longest distance."""
    n_rows = len(lengths)
    order = np.empty(n_rows, dtype=np.intp)
    order[0] = row = int(np.unravel_index(lengths.argmax(), lengths.shape)[0])
    nearest = np.full(n_rows, np.inf)
    reached = np.zeros(n_rows, dtype=bool)
    for place in range(1, n_rows):
        reached[row] = True
        nearest = np.where(reached, np.inf, np.minimum(nearest, lengths[row]))
        order[place] = row = int(nearest.argmin())
    return order


def path_lengths(ordered: Floats) -> Floats:
    """The longest step between any two rows along the spanning tree, of rows in Prim's order.

    A row joins the tree by its nearest row before it; every path to it runs over that edge. O(n^2).
    """
    n_rows = len(ordered)
    longest = np.zeros_like(ordered)
    for row in range(1, n_rows):
        joint = int(ordered[row, :row].argmin())
        way = np.maximum(ordered[row, joint], longest[joint, :row])
        longest[row, :row] = longest[:row, row] = way
    return longest
