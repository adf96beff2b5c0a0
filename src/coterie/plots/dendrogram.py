"""The picture of a tree of merges: the dendrogram."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._checks import real, whole
from coterie._distinct import distinct
from coterie.hierarchy._cut import count_at_height, cut_tree
from coterie.plots._branches import (
    Branches,
    Flags,
    draw_above,
    draw_last,
    draw_levels,
    lay_branches,
    shared_labels,
)
from coterie.plots._merges import in_optimal_order, merge_table
from coterie.plots._style import INK, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dendrogram"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: More leaves than this are drawn without names.
_MOST_NAMED = 120
_TRUNCATIONS: dict[str, Callable[[Floats, Any], Flags]] = {
    "last": draw_last,
    "levels": draw_levels,
    "above": draw_above,
}


def dendrogram(
    tree: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    last: int | None = None,
    levels: int | None = None,
    above: float | None = None,
    labels: Sequence[Any] | None = None,
    order: str = "merges",
    X: Any = None,
    orientation: str = "vertical",
    log: bool = False,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a tree of merges: a bracket for each, at its height, over the two parts it joins.

    Where the tree is cut, a dashed line shows it and each cluster has its colour, that of
    `scatter` with the labels of the cut. Without recursion, in O(n_rows): a hundred
    thousand leaves take seconds.

    Parameters
    ----------
    tree : merge table of shape (n_rows - 1, 4), or fitted AgglomerativeClustering
        As `coterie.linkage` and SciPy make them.
    n_clusters, height
        Where to cut: into so many clusters, or at this height. At most one; a model is cut as it
        was fitted unless one is given, a table is not cut.
    last, levels, above
        Draw only the merges over the last so many clusters, those at most so many levels below the
        root, or those at this height and above. At most one. What is left out of a tree stands at
        its leaves as the number of rows, in brackets.
    labels
        Names of the rows, (n_rows,); None for their numbers. Not written for more than 120 leaves.
    order : {"merges", "optimal"}
        Which part of a merge comes first: as in the table, or so that neighbouring leaves are near
        to each other (Bar-Joseph et al. 2001; needs `X`, and SciPy's O(n_rows^2) memory).
    X
        For ``order="optimal"``: the rows, or condensed distances. Rows are compared by the metric
        of the model, or Euclidean for a table.
    orientation : {"vertical", "horizontal"}
        Which way the heights run.
    log
        Heights on a logarithmic axis; what is at 0 is drawn at its lower end.
    ax
        Axes to draw into; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into; ``ax.figure.savefig`` writes the figure.

    Examples
    --------
    >>> import coterie
    >>> from coterie.plots import dendrogram
    >>> values = [2, 5, 9, 15, 16, 18]
    >>> Z = coterie.linkage([[value] for value in values], "single")
    >>> ax = dendrogram(Z, n_clusters=2, labels=values)
    >>> [name.get_text() for name in ax.get_xticklabels()]
    ['18', '15', '16', '9', '2', '5']
    """
    Z = merge_table(tree)
    _check_choices(Z, labels, order, orientation)
    row_clusters, line = _cut(tree, Z, n_clusters, height)
    drawn = _truncate(Z, last=last, levels=levels, above=above)
    if order == "optimal":
        Z = in_optimal_order(tree, Z, X)
    branches = lay_branches(Z, drawn)
    floor = _log_floor(branches) if log else 0.0
    clusters = None if row_clusters is None else shared_labels(Z, row_clusters)

    ax = new_axes() if ax is None else ax
    vertical = orientation == "vertical"
    _draw_branches(ax, branches, clusters, len(Z) + 1, floor, vertical)
    _set_axes(ax, branches, floor, vertical)
    if line is not None:
        draw_line = ax.axhline if vertical else ax.axvline
        where = _between(*line, log=log)
        draw_line(max(where, floor), color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    plain(ax)
    _name_leaves(ax, branches, _leaf_names(branches, Z, labels), clusters, vertical)
    ax.set_title(printable(title or ""))
    return ax


def _check_choices(Z: Floats, labels: Any, order: str, orientation: str) -> None:
    for name, value, known in (
        ("order", order, ("merges", "optimal")),
        ("orientation", orientation, ("vertical", "horizontal")),
    ):
        if value not in known:
            words = ", ".join(map(repr, known))
            raise ValueError(f"dendrogram: {name}={value!r} was given; use one of {words}.")
    if labels is not None and len(labels) != len(Z) + 1:
        raise ValueError(
            f"dendrogram: {len(labels)} labels were given and the tree has {len(Z) + 1} rows; pass "
            "a name for each row."
        )


def _cut(
    tree: Any, Z: Floats, n_clusters: int | None, height: float | None
) -> tuple[Ints | None, tuple[float, float] | None]:
    """The cluster of every row, and the heights between which the line is drawn."""
    if n_clusters is not None and height is not None:
        raise ValueError(
            f"dendrogram: n_clusters={n_clusters} and height={height} were given; use one of them."
        )
    is_model = hasattr(tree, "Z_")
    if n_clusters is None and height is None:
        if not is_model:
            return None, None
        return np.asarray(tree.labels_), _gap(Z, tree.n_clusters_)
    if height is not None:
        _check_number("height", height, 0)
        count = count_at_height(Z[:, 2], height)
    else:
        count = _check_count(n_clusters, len(Z) + 1)
    clusters = tree.cut(count) if is_model else cut_tree(Z[:, :2].astype(np.int64), count)
    return clusters, _gap(Z, count) if height is None else (height, height)


def _check_count(n_clusters: Any, n_rows: int) -> int:
    if not whole(1).allows(n_clusters) or n_clusters > n_rows:
        raise ValueError(
            f"dendrogram: n_clusters={n_clusters!r} was given; use a whole number from 1 to the "
            f"{n_rows} rows of the tree."
        )
    return int(n_clusters)


def _check_number(name: str, value: Any, least: int) -> None:
    if not real(least).allows(value):
        raise ValueError(
            f"dendrogram: {name}={value!r} was given; use a number of at least {least}."
        )


def _gap(Z: Floats, n_clusters: int) -> tuple[float, float] | None:
    """Heights of the last merge that is kept and of the first that is undone."""
    if n_clusters == 1:
        return None
    kept = 0.0 if n_clusters > len(Z) else float(Z[-n_clusters, 2])
    return kept, float(Z[1 - n_clusters, 2])


def _between(kept: float, undone: float, *, log: bool) -> float:
    """The middle of two heights as it looks on the axis."""
    return float(np.sqrt(kept) * np.sqrt(undone)) if log else kept / 2 + undone / 2


def _truncate(Z: Floats, **given: Any) -> Flags:
    """Which merges are drawn."""
    asked = {name: value for name, value in given.items() if value is not None}
    if len(asked) > 1:
        words = " and ".join(f"{name}={value!r}" for name, value in asked.items())
        raise ValueError(f"dendrogram: {words} were given; use one of them.")
    drawn = np.ones(len(Z), dtype=bool)
    for name, value in asked.items():
        _check_number(name, value, 2 if name == "last" else 0)
        drawn = _TRUNCATIONS[name](Z, value)
    drawn[-1] = True  # the root is always there
    return drawn


def _log_floor(branches: Branches) -> float:
    """The lower end of a logarithmic axis: a little below the lowest merge over 0."""
    positive = branches.heights[branches.heights > 0]
    if positive.size == 0:
        raise ValueError(
            "dendrogram: log=True and every merge is at height 0, which a logarithmic axis does "
            "not have; use log=False."
        )
    low, high = float(positive.min()), float(positive.max())
    return low * min(0.5, (low / high) ** 0.05)


def _draw_branches(
    ax: Axes,
    branches: Branches,
    clusters: Ints | None,
    n_rows: int,
    floor: float,
    vertical: bool,
) -> None:
    """All brackets as one collection of lines."""
    from matplotlib.collections import LineCollection

    corners = [branches.across, np.maximum(branches.heights, floor)]
    lines = np.stack(corners if vertical else corners[::-1], axis=-1)
    colors: Any = INK
    if clusters is not None:
        own = clusters[branches.merges + n_rows]
        names = {cluster: color_of(cluster) for cluster in distinct(own).tolist()}
        colors = [names[cluster] for cluster in own.tolist()]
    # Among very many leaves only wide brackets are drawn boldly.
    span = branches.across[:, 3] - branches.across[:, 0]
    width = np.clip(100 * span / len(branches.leaves), 0.3, 1.6)
    ax.add_collection(
        LineCollection(
            list(lines), colors=colors, linewidths=width.tolist(), capstyle="projecting"
        ),
        autolim=False,
    )


def _set_axes(ax: Axes, branches: Branches, floor: float, vertical: bool) -> None:
    """Limits and scales: leaves along one axis, heights along the other."""
    top = float(branches.heights.max()) or 1.0
    set_heights, set_leaves = (ax.set_ylim, ax.set_xlim) if vertical else (ax.set_xlim, ax.set_ylim)
    if floor > 0:
        (ax.set_yscale if vertical else ax.set_xscale)("log")
        set_heights(floor, top * (top / floor) ** 0.05)
    else:
        set_heights(0, 1.05 * top)
    edges = (-0.75, len(branches.leaves) - 0.25)
    set_leaves(*(edges if vertical else edges[::-1]))  # read from left to right, or down
    (ax.set_ylabel if vertical else ax.set_xlabel)("height")


def _leaf_names(branches: Branches, Z: Floats, labels: Sequence[Any] | None) -> list[str]:
    """Names of rows; the number of rows, in brackets, where the tree below is not drawn."""
    n_rows = len(Z) + 1
    if len(branches.leaves) > _MOST_NAMED:
        return []
    return [
        f"({int(Z[node - n_rows, 3]):,})"
        if node >= n_rows
        else printable(node if labels is None else labels[node])
        for node in branches.leaves.tolist()
    ]


def _name_leaves(
    ax: Axes, branches: Branches, names: list[str], clusters: Ints | None, vertical: bool
) -> None:
    """Names at the leaves, in the colours of their clusters; upright where they are wide."""
    axis = ax.xaxis if vertical else ax.yaxis
    ax.spines["bottom" if vertical else "left"].set_visible(False)
    axis.set_ticks(range(len(names)), names)
    ax.tick_params(axis="x" if vertical else "y", length=0)
    widest = max(map(len, names), default=0)
    crowded = widest * len(names) > 60
    for text, node in zip(axis.get_ticklabels(), branches.leaves, strict=False):
        text.set_fontsize(10 if len(names) <= 40 else 7)
        if vertical and crowded:
            text.set_rotation(90)
        if clusters is not None:
            cluster = int(clusters[node])
            text.set_color(INK if cluster < 0 else color_of(cluster))


def save_dendrogram(
    path: str | os.PathLike[str],
    tree: Any,
    *,
    last: int | None = 40,
    title: str | None = None,
    **options: Any,
) -> None:
    """Draw the `last` clusters of a tree on a figure of its own and write it to a file.

    Further options are those of `dendrogram`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=100, layout="constrained")
    dendrogram(tree, last=last, ax=figure.subplots(), title=title, **options)
    figure.savefig(path)
