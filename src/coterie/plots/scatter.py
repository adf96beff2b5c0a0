"""The picture of a clustering: rows as points, coloured by cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data.columns import column_names, numbers
from coterie.plots._style import INK, color_of, marker_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scatter"]

Floats = npt.NDArray[np.float64]

#: More clusters than this are drawn without numbers and without a legend.
_MOST_NUMBERED = 40
_MOST_LISTED = 16


def scatter(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    centers: npt.ArrayLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    max_points: int = 20_000,
    title: str | None = None,
) -> Axes:
    """Draw rows as points in the colour of their cluster.

    Two columns are drawn as they are, more through their first two principal components, a
    single one as a histogram. An ellipse shows the covariance of each cluster of at least three
    rows at one standard deviation. Noise (label -1) is grey. Rows with missing or infinite values
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
    """
    if feature_names is None:
        feature_names = column_names(X)
    rows = X if isinstance(X, np.ndarray) else np.asarray(X)
    labels = np.asarray(labels)
    if rows.ndim != 2 or labels.shape != rows.shape[:1] or len(rows) == 0:
        raise ValueError(
            f"scatter: X has shape {rows.shape} and labels {labels.shape}; pass a table with at "
            f"least one row and one label for each."
        )
    clusters, sizes, labels = _numbered(labels)
    sample = _even_sample(len(rows), max_points)
    points = _as_numbers(rows[sample], feature_names)
    finite = np.isfinite(points).all(axis=1)
    n_left = int((~finite).sum())
    points, labels = points[finite], labels[sample][finite]
    marks = None if centers is None else np.asarray(centers, dtype=np.float64)
    names = [printable(n) for n in feature_names or (f"x{i}" for i in range(rows.shape[1]))]

    ax = new_axes() if ax is None else ax
    if not len(points):
        ax.set(xlabel=names[0], ylabel=names[1] if len(names) > 1 else "rows")
    elif rows.shape[1] == 1:
        _draw_histogram(ax, points[:, 0], labels, list(clusters), marks, names[0])
    else:
        project, axis_names = _principal_plane(points, names)
        flat_marks = None if marks is None else project(marks)
        _draw_points(ax, project(points), labels, list(clusters), flat_marks)
        ax.set(xlabel=axis_names[0], ylabel=axis_names[1])
    _draw_legend(ax, clusters, sizes)
    ax.set_title(printable(title or ""))
    if n_left:
        of_sample = "" if isinstance(sample, slice) else " of the sample"
        ax.text(
            0.02,
            0.03,  # clear of the axis, which the white behind the text would cover
            f"{n_left:,} rows{of_sample} with missing or infinite values not drawn",
            transform=ax.transAxes,
            color=INK,
            fontsize=10,
            bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 2},
        )
    plain(ax)
    return ax


def _as_numbers(cells: Any, names: Sequence[str] | None) -> Floats:
    """Rows as float64, NaN where a cell is missing; an error names the column that has words."""
    try:
        return np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    columns = []
    for place, column in enumerate(np.asarray(cells, dtype=object).T):
        try:
            columns.append(numbers(column))
        except (TypeError, ValueError) as error:
            name = repr(names[place]) if names is not None else str(place)
            raise ValueError(
                f"scatter: column {name} of X holds values that are no numbers ({error}); leave "
                "it out, or encode it."
            ) from error
    return np.array(columns, dtype=np.float64).T


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


def _even_sample(n_rows: int, max_points: int) -> npt.NDArray[np.intp] | slice:
    """Row ids, the same in every run; all rows when they are few enough."""
    if n_rows <= max_points:
        return slice(None)
    rng = np.random.RandomState(0)
    return distinct(rng.randint(n_rows, size=max_points).astype(np.intp))


def _principal_plane(
    points: Floats, names: Sequence[str]
) -> tuple[Callable[[Floats], Floats], Sequence[str]]:
    """How to bring rows into the plane, and what the two axes are called."""
    if points.shape[1] == 2:
        return lambda rows: rows, names
    mean = points.mean(axis=0)
    # Divided by the largest value so that no square overflows.
    spread = np.abs(points - mean).max() or 1.0
    scatter_matrix = np.cov((points - mean).T / spread, bias=True)
    variances, directions = np.linalg.eigh(scatter_matrix)
    plane = directions[:, [-1, -2]]
    # An eigenvector's sign is arbitrary: let its largest entry be positive.
    plane = plane * np.sign(plane[np.abs(plane).argmax(axis=0), [0, 1]])
    shares = variances[[-1, -2]] / (variances.sum() or 1.0)
    axis_names = [f"PC {i} ({share:.0%} of variance)" for i, share in enumerate(shares, 1)]
    return lambda rows: (rows - mean) @ plane, axis_names


def _draw_points(
    ax: Axes,
    points: Floats,
    labels: npt.NDArray[Any],
    clusters: Sequence[int],
    centers: Floats | None,
) -> None:
    """Points and ellipses of each cluster, then the centres on top."""
    area = float(np.clip(40_000 / len(points), 4, 36))
    opacity = float(np.clip(2_000 / len(points), 0.25, 0.75))
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
        if cluster >= 0 and len(own) >= 3:
            _draw_ellipse(ax, own, color)
    if centers is not None:
        _draw_centers(ax, centers)
    ax.margins(0.06)


def _draw_ellipse(ax: Axes, points: Floats, color: str) -> None:
    """The covariance of the points: one standard deviation from their mean in every direction."""
    from matplotlib.patches import Ellipse

    mean = points.mean(axis=0)
    # Singular values instead of a covariance matrix: no squares, no overflow.
    _, singular, directions = np.linalg.svd(points - mean, full_matrices=False)
    width, height = 2 * singular / np.sqrt(len(points) - 1)
    angle = np.degrees(np.arctan2(directions[0, 1], directions[0, 0]))
    ellipse = Ellipse(mean, width, height, angle=angle)
    ellipse.set(facecolor=color, edgecolor=color, alpha=0.16, zorder=1)
    ax.add_patch(ellipse)
    outline = Ellipse(mean, width, height, angle=angle)
    outline.set(fill=False, edgecolor=color, linewidth=1.6, zorder=3)
    ax.add_patch(outline)


def _draw_centers(ax: Axes, centers: Floats) -> None:
    """A numbered disc at every centre; plain discs when there are too many to read."""
    numbered = len(centers) <= _MOST_NUMBERED
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


def _draw_histogram(
    ax: Axes,
    values: Floats,
    labels: npt.NDArray[Any],
    clusters: Sequence[int],
    centers: Floats | None,
    name: str,
) -> None:
    """One column: stacked bars, a numbered line at every centre."""
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
            if len(centers) <= _MOST_NUMBERED:
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
    ax.set(xlabel=name, ylabel="rows")


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
