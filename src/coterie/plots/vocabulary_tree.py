"""The picture of a vocabulary tree: levels as circles around the root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._checks import whole
from coterie.plots._style import INK, color_of, new_axes, printable
from coterie.quantize._tree import levels_of, parents_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["vocabulary_tree"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A level of more nodes than this is not drawn unless it is asked for.
_MOST_NODES = 5000
#: Area of the disc of all rows, in points squared.
_LARGEST = 700.0


class Layout(NamedTuple):
    """Where each node is drawn: its level, the middle of its share of the circle, its parent."""

    levels: Ints
    angles: Floats
    parents: Ints


def lay_tree(starts: Any, counts: Any, n_levels: int) -> Layout:
    """Give every node of the first levels a share of its parent's angle, by its rows and leaves.

    A share is the mean of those of the rows and of the leaves: a leaf of most rows leaves room for
    the others. Children follow each other, so lines to them never cross. Time O(n_nodes).
    """
    all_levels = levels_of(starts)
    levels = all_levels[: n_levels + 1]
    n_nodes = levels[-1].stop
    parents = parents_of(starts)[:n_nodes].astype(np.int64)
    counts, leaves = np.asarray(counts, dtype=np.float64), _leaves_below(starts, all_levels)
    shares = counts / max(counts[0], 1) + leaves / leaves[0]
    begin, width, depth = np.zeros(n_nodes), np.ones(n_nodes), np.zeros(n_nodes, dtype=np.int64)
    for at, level in enumerate(levels[1:], start=1):
        up, share = parents[level], shares[level]
        before = np.cumsum(share) - share  # of the level to the left, less the eldest sibling's
        own = before - before[np.asarray(starts)[up] - level.start]
        begin[level] = begin[up] + width[up] * own / shares[up]
        width[level] = width[up] * share / shares[up]
        depth[level] = at
    return Layout(depth, 2 * np.pi * (begin + width / 2), parents)


def _leaves_below(starts: Any, levels: list[slice]) -> Floats:
    """How many leaves are below each node; one for a leaf."""
    leaves = (np.diff(starts) == 0).astype(np.float64)
    parents = parents_of(starts)
    for level in levels[:0:-1]:
        np.add.at(leaves, parents[level], leaves[level])
    return leaves


def vocabulary_tree(
    model: Any, *, levels: int | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw a vocabulary tree: the root in the middle, each level a circle around it.

    The area of a disc is its node's share of the rows. Its part of the circle is the mean of its
    shares of the rows and of the leaves. What is below one child of the root has one colour.

    Parameters
    ----------
    model : fitted HierarchicalKMeans
    levels
        How many levels below the root to draw; None: all with 5000 nodes at most.
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
    >>> import numpy as np
    >>> from coterie import HierarchicalKMeans
    >>> from coterie.plots import vocabulary_tree
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> vocabulary_tree(HierarchicalKMeans(3, 2, random_state=0).fit(X)).get_title()
    '100 rows, 9 leaves'
    """
    from matplotlib.collections import LineCollection

    if not hasattr(model, "tree_starts_"):
        raise ValueError(
            f"vocabulary_tree: the {type(model).__name__} has no tree; pass a fitted "
            "HierarchicalKMeans."
        )
    if levels is not None and not whole(0).allows(levels):
        raise ValueError(
            f"vocabulary_tree: levels={levels!r} was given; use a whole number of at least 0."
        )
    starts, counts = np.asarray(model.tree_starts_), np.asarray(model.tree_counts_)
    few = [level for level in levels_of(starts) if level.stop - level.start <= _MOST_NODES]
    layout = lay_tree(starts, counts, len(few) - 1 if levels is None else int(levels))
    n_nodes = layout.levels.size
    places = layout.levels[:, np.newaxis] * np.stack(
        [np.cos(layout.angles), np.sin(layout.angles)], axis=1
    )
    colors = [INK] + [color_of(child) for child in _eldest(layout).tolist()]

    ax = new_axes() if ax is None else ax
    lines = np.stack([places[layout.parents[1:]], places[1:]], axis=1)
    thin = float(np.clip(60 / max(n_nodes, 1) ** 0.5, 0.2, 1.5))
    ax.add_collection(LineCollection(list(lines), colors=colors[1:], linewidths=thin, alpha=0.6))
    areas = np.maximum(_LARGEST * counts[:n_nodes] / max(int(counts[0]), 1), 1.0)
    ax.scatter(places[:, 0], places[:, 1], s=areas, c=colors, linewidths=0, zorder=2, clip_on=False)
    reach = 1.08 * max(int(layout.levels.max()), 1)  # the whole circle, wherever nodes are
    ax.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_axis_off()
    n_leaves = int((np.diff(starts) == 0).sum())
    words = f"{counts[0]:,} rows, {n_leaves:,} leaves"
    ax.set_title(printable(title or words), color=INK, fontsize=14)
    return ax


def _eldest(layout: Layout) -> Ints:
    """For each node but the root, which child of the root it is or is below, from 0."""
    child = np.arange(layout.levels.size)
    for level in range(2, int(layout.levels.max(initial=0)) + 1):
        here = layout.levels == level
        child[here] = child[layout.parents[here]]
    return child[1:] - 1
