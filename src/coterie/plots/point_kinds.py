"""The picture of DBSCAN's kinds of points: core, border and noise, with circles of radius eps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.plots._style import (
    INK,
    NOISE_COLOR,
    color_of,
    finite_table,
    new_axes,
    plain,
    printable,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["point_kinds"]


def point_kinds(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    core: npt.ArrayLike,
    eps: float,
    *,
    names: Sequence[Any] | None = None,
    circles: str | None = "core",
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw what DBSCAN makes of each row: core filled, border hollow, noise a cross.

    Rows of the plane, with Euclidean distances: a circle of radius eps shows whom a row reaches.

    Parameters
    ----------
    X
        Rows, shape (n_rows, 2).
    labels
        Cluster of each row, -1 for noise: `labels_`.
    core
        Numbers of the core rows: `core_sample_indices_`.
    eps
        The radius.
    names
        What to write beside each row; None for nothing.
    circles : {"core", "all", None}
        Around which rows circles are drawn.
    feature_names
        Names of the two columns.
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
    >>> from coterie import DBSCAN
    >>> from coterie.plots import point_kinds
    >>> X = [[1, 1], [1, 3], [1, 5], [1, 8], [3, 1], [4, 4], [4, 6], [5, 1], [6, 4], [6, 6], [7, 1]]
    >>> model = DBSCAN(eps=2, min_samples=3).fit(X)
    >>> ax = point_kinds(X, model.labels_, model.core_sample_indices_, eps=2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['core (8)', 'border (2)', 'noise (1)']
    """
    points = finite_table(X, "point_kinds", "X")
    own = np.asarray(labels)
    if points.shape[1] != 2 or own.shape != points.shape[:1] or own.dtype.kind not in "iu":
        raise ValueError(
            f"point_kinds: X has shape {points.shape} and labels shape {own.shape} and type "
            f"{own.dtype}; pass two columns and a whole number for each row."
        )
    if circles not in ("core", "all", None):
        raise ValueError(f"point_kinds: circles={circles!r} was given; use 'core', 'all' or None.")
    if names is not None and len(names) != len(points):
        raise ValueError(
            f"point_kinds: {len(names)} names were given for {len(points)} rows; give one each."
        )
    is_core = np.zeros(len(points), dtype=bool)
    is_core[np.asarray(core, dtype=np.intp)] = True
    is_noise = own < 0
    ax = new_axes() if ax is None else ax
    if circles is not None:
        chosen = is_core if circles == "core" else np.ones(len(points), dtype=bool)
        _draw_circles(ax, points, own, chosen, eps)
    area = float(np.clip(12_000 / len(points), 14, 110))
    for cluster in distinct(own[~is_noise]).tolist():
        color = color_of(cluster)
        for chosen, face in ((is_core, color), (~is_core, "white")):
            x, y = points[(own == cluster) & chosen].T
            ax.scatter(x, y, s=area, facecolors=face, edgecolors=color, linewidths=2, zorder=3)
    x, y = points[is_noise].T
    ax.scatter(x, y, s=area, c=INK, marker="x", linewidths=2, zorder=3)
    for name, point in zip([] if names is None else names, points, strict=False):
        ax.annotate(
            printable(name), point, xytext=(7, 7), textcoords="offset points", color=INK,
            fontsize=10, zorder=4,
        )  # fmt: skip
    ax.margins(0.07)
    _name_kinds(ax, int(is_core.sum()), int((~is_core & ~is_noise).sum()), int(is_noise.sum()))
    columns = ("x0", "x1") if feature_names is None else feature_names
    ax.set(xlabel=printable(columns[0]), ylabel=printable(columns[1]), aspect="equal")
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax


def _draw_circles(ax: Axes, points: Any, labels: Any, chosen: Any, eps: float) -> None:
    """Circles of radius eps, and limits that hold them whole."""
    from matplotlib.patches import Circle

    for point, label in zip(points[chosen], labels[chosen].tolist(), strict=True):
        color = color_of(label)
        circle = Circle(tuple(point), eps, facecolor=color, alpha=0.07, linewidth=0)
        circle.set_zorder(0)
        ax.add_patch(circle)
        ring = Circle(tuple(point), eps, fill=False, edgecolor=color, alpha=0.55, linewidth=0.9)
        ring.set_zorder(1)
        ax.add_patch(ring)


def _name_kinds(ax: Axes, n_core: int, n_border: int, n_noise: int) -> None:
    """The three marks and how many rows have each."""
    from matplotlib.lines import Line2D

    marks: list[dict[str, Any]] = [
        {"marker": "o", "color": NOISE_COLOR, "label": f"core ({n_core:,})"},
        {"marker": "o", "color": NOISE_COLOR, "mfc": "white", "label": f"border ({n_border:,})"},
        {"marker": "x", "color": INK, "label": f"noise ({n_noise:,})"},
    ]
    handles = [Line2D([], [], linestyle="", markersize=8, mew=2, **mark) for mark in marks]
    ax.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0,
        frameon=False, labelcolor=INK,
    )  # fmt: skip
