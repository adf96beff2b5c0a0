"""The picture of a table in the order of its tree: a dendrogram beside a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._merges import leaf_order
from coterie.plots._plane import as_numbers, axis_names
from coterie.plots._style import INK, SHADES, TWO_SIDED, new_axes, panels, plain, printable
from coterie.plots.dendrogram import dendrogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map"]

#: More rows or columns than this are drawn without names.
_MOST_NAMED = 60


def heat_map(
    X: npt.ArrayLike,
    tree: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    labels: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    order: str = "merges",
    standardise: bool = True,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a tree of merges, and beside it the table it was made of with rows in leaf order.

    Rows that were merged early stand next to each other, so a cluster is a band of one pattern.

    Parameters
    ----------
    X
        The rows, shape (n_rows, n_columns); an array or a data frame. Missing cells stay white.
    tree : merge table of shape (n_rows - 1, 4), or fitted AgglomerativeClustering
        As `coterie.linkage` makes them, of these rows.
    n_clusters, height
        Where the tree is cut, as for `dendrogram`.
    labels
        Names of the rows; None for their numbers. Not written for more than 60 rows.
    feature_names
        Names of the columns; None for those of the frame, if X is one.
    order : {"merges", "optimal"}
        Which part of a merge comes first, as for `dendrogram`.
    standardise
        Whether to show columns in standard deviations from their means, so that units do not
        matter; else as they are.
    ax
        Axes to draw into, and to divide; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into; its `child_axes` are the dendrogram, the heat map and its scale.

    Examples
    --------
    >>> import numpy as np
    >>> import coterie
    >>> from coterie.plots import heat_map
    >>> X = np.array([[0.0, 1], [5, 9], [0, 2], [5, 8]])
    >>> ax = heat_map(X, coterie.linkage(X, "average"), n_clusters=2, standardise=False)
    >>> ax.child_axes[1].images[0].get_array().shape
    (4, 2)
    """
    rows = X if isinstance(X, np.ndarray) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"heat_map: X has shape {rows.shape}; pass a table of rows and columns.")
    names = axis_names(X, feature_names, rows.shape[1])
    cells = as_numbers(rows, names, "heat_map")
    leaves = leaf_order(tree, order=order, X=X)
    if len(leaves) != len(cells):
        raise ValueError(
            f"heat_map: X has {len(cells)} rows and the tree {len(leaves)}; pass the rows that the "
            "tree was made of."
        )
    shown = _standardised(cells) if standardise else cells

    ax = new_axes() if ax is None else ax
    left, right = panels(ax, (1, 2), gap=0.01)
    scale = ax.inset_axes((0.5, 1.03, 0.5, 0.025))
    dendrogram(
        tree, n_clusters=n_clusters, height=height, order=order, X=X, orientation="horizontal",
        ax=left,
    )  # fmt: skip
    left.invert_xaxis()  # leaves at the heat map
    left.set(yticks=[], ylim=(len(cells) - 0.5, -0.5))
    _draw_table(right, scale, shown[leaves], two_sided=standardise)
    row_names = [printable(leaf if labels is None else labels[leaf]) for leaf in leaves.tolist()]
    _name_rows(right, row_names if len(leaves) <= _MOST_NAMED else [])
    _name_columns(right, names if len(names) <= _MOST_NAMED else [])
    scale.set_title(
        "standard deviations from the mean" if standardise else "value", color=INK, fontsize=10
    )
    ax.set_title(printable(title or ""), color=INK, fontsize=14, pad=50)
    return ax


def _standardised(cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns less their means, in standard deviations; missing cells stay missing."""
    known = np.isfinite(cells)
    filled = np.where(known, cells, np.nan)
    deviations = np.nanstd(filled, axis=0)
    scaled = (filled - np.nanmean(filled, axis=0)) / np.where(deviations > 0, deviations, 1.0)
    return np.asarray(scaled)


def _draw_table(ax: Axes, scale: Axes, cells: npt.NDArray[np.float64], *, two_sided: bool) -> None:
    """The table as an image, and what its colours mean."""
    from matplotlib.figure import Figure

    limits: dict[str, Any] = {"cmap": SHADES}
    if two_sided:
        # A few wild cells must not bleach all others.
        most = float(min(np.nanmax(np.abs(cells), initial=0.0), 3.0)) or 1.0
        limits = {"cmap": TWO_SIDED, "vmin": -most, "vmax": most}
    image = ax.imshow(cells, aspect="auto", interpolation="nearest", **limits)
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.colorbar(image, cax=scale, orientation="horizontal", ticklocation="top")
    scale.tick_params(colors=INK, labelsize=9)


def _name_rows(ax: Axes, names: list[str]) -> None:
    ax.yaxis.tick_right()
    plain(ax)
    ax.spines[:].set_visible(False)
    ax.set_yticks(range(len(names)), names)
    room = 0.6 * _points(ax, 1) / max(len(names), 1)
    ax.tick_params(axis="y", length=0, labelsize=float(np.clip(room, 3, 8)))


def _name_columns(ax: Axes, names: list[str]) -> None:
    ax.set_xticks(range(len(names)), names)
    # A letter is 5.4 points wide, and a name as far from the next as three letters.
    crowded = 5.4 * len(names) * (3 + max(map(len, names), default=0)) > _points(ax, 0)
    ax.tick_params(axis="x", length=0, labelsize=9, rotation=90 if crowded else 0)


def _points(ax: Axes, side: int) -> float:
    """The width (0) or height (1) of axes, in points, before the figure is laid out."""
    figure = ax.get_figure()
    assert figure is not None
    low, high = ax.get_window_extent().get_points()
    return float((high - low)[side] * 72 / figure.figure.dpi)
