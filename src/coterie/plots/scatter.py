"""The picture of a clustering: rows as points, coloured by cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._histogram import MOST_NUMBERED, draw_histogram, tint_intervals
from coterie.plots._outlines import cells, draw_cells, draw_ellipse, draw_hull
from coterie.plots._plane import (
    Plane,
    as_numbers,
    axis_names,
    even_sample,
    plane_of,
    size_of_points,
)
from coterie.plots._style import INK, color_of, marker_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scatter"]

Floats = npt.NDArray[np.float64]

#: More clusters than this are drawn without a legend.
_MOST_LISTED = 16
_OUTLINES: dict[str, Callable[[Any, Floats, str], None]] = {
    "ellipses": draw_ellipse,
    "hulls": draw_hull,
}


def scatter(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    centers: npt.ArrayLike | None = None,
    *,
    outlines: str | None = "ellipses",
    regions: Any = None,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    max_points: int = 20_000,
    title: str | None = None,
) -> Axes:
    """Draw rows as points in the colour of their cluster.

    Two columns are drawn as they are, more through their first two principal components, a
    single one as a histogram. Noise (label -1) is grey. Rows with missing or infinite values
    are not drawn; a line in the corner says how many.

    Beyond `max_points` rows an even sample is drawn, and components and ellipses are those of the
    sample, so a memory map is not read whole. Cost is that of the sample: O(max_points * d^2).

    Parameters
    ----------
    X
        Rows, shape (n_rows, n_columns); an array or a data frame.
    labels
        Cluster of each row, shape (n_rows,): numbers or text.
    centers
        Where to put the numbered marks, shape (n_clusters, n_columns); None for no marks.
    outlines : {"ellipses", "hulls", None}
        What is drawn around the points of each cluster of at least three: their covariance at one
        standard deviation, their convex hull, or nothing.
    regions
        A fitted model with `cluster_centers_`, or centres of shape (n_clusters, n_columns): the
        part of the plane that is nearest to each is tinted in its colour. Of more than two columns
        it is what the plane of the picture cuts of each region.
    feature_names
        Names of the columns, for the axes; None for those of the frame, if X is one.
    ax
        Axes to draw into; None for a new figure.
    max_points
        Draw at most so many rows.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into; ``ax.figure.savefig`` writes the figure.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.plots import scatter
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> ax = scatter(X, model.labels_, model.cluster_centers_, regions=model, outlines="hulls")
    >>> len(ax.texts)
    2
    """
    rows = X if isinstance(X, np.ndarray) else np.asarray(X)
    labels = np.asarray(labels)
    if rows.ndim != 2 or labels.shape != rows.shape[:1] or len(rows) == 0:
        raise ValueError(
            f"scatter: X has shape {rows.shape} and labels {labels.shape}; pass a table with at "
            f"least one row and one label for each."
        )
    if outlines is not None and outlines not in _OUTLINES:
        raise ValueError(
            f"scatter: outlines={outlines!r} was given; use 'ellipses', 'hulls' or None."
        )
    names = axis_names(X, feature_names, rows.shape[1])
    clusters, sizes, labels = _numbered(labels)
    sample = even_sample(len(rows), max_points)
    points = as_numbers(rows[sample], names, "scatter")
    finite = np.isfinite(points).all(axis=1)
    n_left = int((~finite).sum())
    points, labels = points[finite], labels[sample][finite]
    marks = None if centers is None else np.asarray(centers, dtype=np.float64)
    sites = None if regions is None else _sites(regions, rows.shape[1])

    ax = new_axes() if ax is None else ax
    if not len(points):
        ax.set(xlabel=names[0], ylabel=names[1] if len(names) > 1 else "rows")
    elif rows.shape[1] == 1:
        draw_histogram(ax, points[:, 0], labels, list(clusters), marks, names[0])
        if sites is not None:
            tint_intervals(ax, sites[:, 0])
    else:
        plane = plane_of(points, names)
        draw_around = None if outlines is None else _OUTLINES[outlines]
        _draw_points(ax, plane.project(points), labels, list(clusters), draw_around)
        if marks is not None:
            _draw_centers(ax, plane.project(marks))
        ax.margins(0.06)
        if sites is not None:
            _tint_plane(ax, plane, sites)
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    _draw_legend(ax, clusters, sizes)
    ax.set_title(printable(title or ""))
    if n_left:
        _say_left_out(ax, n_left, of_sample=not isinstance(sample, slice))
    plain(ax)
    return ax


def _say_left_out(ax: Axes, n_left: int, *, of_sample: bool) -> None:
    """How many rows are not drawn, in the corner."""
    words = f"{n_left:,} rows{' of the sample' if of_sample else ''}"
    ax.text(
        0.02,
        0.03,  # clear of the axis, which the white behind the text would cover
        f"{words} with missing or infinite values not drawn",
        transform=ax.transAxes,
        color=INK,
        fontsize=10,
        bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 2},
    )


def _numbered(
    labels: npt.NDArray[Any],
) -> tuple[dict[int, str], npt.NDArray[Any], npt.NDArray[Any]]:
    """Names and sizes of the clusters, and labels as numbers: text is numbered in its order."""
    if labels.dtype.kind in "biu" or (
        labels.dtype.kind == "f" and (labels == np.floor(labels)).all()
    ):
        found, sizes = np.unique(labels.astype(np.int64), return_counts=True)
        return {int(c): "noise" if c < 0 else str(c) for c in found}, sizes, labels.astype(np.int64)
    words = np.array([str(label) for label in labels])
    found, places, sizes = np.unique(words, return_inverse=True, return_counts=True)
    return {i: printable(word) for i, word in enumerate(found)}, sizes, places.ravel()


def _sites(regions: Any, n_columns: int) -> Floats:
    """Centres of the regions: a model's, or as they are."""
    if hasattr(regions, "fit") and not hasattr(regions, "cluster_centers_"):
        raise ValueError(
            f"scatter: regions is a {type(regions).__name__} without cluster_centers_; pass a "
            "fitted k-means, or an array of centres."
        )
    sites = np.asarray(getattr(regions, "cluster_centers_", regions), dtype=np.float64)
    if sites.ndim != 2 or sites.shape[1] != n_columns:
        raise ValueError(
            f"scatter: regions have centres of shape {sites.shape} and X has {n_columns} columns; "
            "pass centres with a value for each column."
        )
    return sites


def _tint_plane(ax: Axes, plane: Plane, sites: Floats) -> None:
    """Regions over the whole axes, whose limits stay as they are."""
    box = (*ax.get_xlim(), *ax.get_ylim())
    draw_cells(ax, cells(plane.project(sites), plane.heights(sites), box))
    ax.set(xlim=box[:2], ylim=box[2:])


def _draw_points(
    ax: Axes,
    points: Floats,
    labels: npt.NDArray[Any],
    clusters: Sequence[int],
    draw_around: Callable[[Any, Floats, str], None] | None,
) -> None:
    """Points of each cluster, and what is drawn around them."""
    area, opacity = size_of_points(len(points))
    for cluster in clusters:
        own = points[labels == cluster]
        color = color_of(cluster)
        ax.scatter(
            own[:, 0],
            own[:, 1],
            s=area,
            c=color,
            marker=marker_of(cluster),
            alpha=opacity,
            linewidths=0,
            zorder=2,
        )
        if draw_around is not None and cluster >= 0 and len(own) >= 3:
            draw_around(ax, own, color)


def _draw_centers(ax: Axes, centers: Floats) -> None:
    """A numbered disc at every centre; plain discs when there are too many to read."""
    numbered = len(centers) <= MOST_NUMBERED
    for cluster, center in enumerate(centers):
        size = 260 if numbered else 36
        ax.scatter(
            center[0],
            center[1],
            s=size,
            c="white",
            edgecolors=color_of(cluster),
            linewidths=2,
            zorder=4,
        )
        if numbered:
            ax.annotate(
                str(cluster), center, color=INK, fontsize=10, ha="center", va="center_baseline"
            ).set_zorder(5)


def _draw_legend(ax: Axes, clusters: Mapping[int, str], sizes: npt.NDArray[Any]) -> None:
    """Label, size and share of each cluster, beside the axes."""
    from matplotlib.lines import Line2D

    if len(clusters) > _MOST_LISTED:
        return
    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=marker_of(cluster),
            color=color_of(cluster),
            markersize=8,
            label=f"{name}: {size:,} ({size / sizes.sum():.0%})",
        )
        for (cluster, name), size in zip(clusters.items(), sizes, strict=True)
    ]
    ax.legend(
        handles=handles,
        title="cluster: rows",
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        borderaxespad=0,
        frameon=False,
        labelcolor=INK,
    )


def save_scatter(
    path: str | os.PathLike[str],
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    centers: npt.ArrayLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Draw `scatter` on a figure of its own, 900 pixels wide, and write it to a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=100, layout="constrained")
    scatter(X, labels, centers, feature_names=feature_names, ax=figure.subplots(), title=title)
    figure.savefig(path)
