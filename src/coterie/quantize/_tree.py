"""A vocabulary tree as arrays: nodes level by level, the children of each side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """Nodes with centres, and the numbers of the leaves among them.

    Attributes
    ----------
    centers
        Of every node, float64 of shape (n_nodes, n_features); node 0 is the root.
    starts
        The children of node i are the nodes from ``starts[i]`` to ``starts[i + 1]``; none: a leaf.
    leaf_numbers
        The number of each leaf, -1 for an inner node.
    """

    centers: Floats
    starts: Labels
    leaf_numbers: Labels


def starts_of(n_children: npt.ArrayLike) -> Labels:
    """Where the children of every node start, from how many each has, level by level."""
    starts: Labels = (1 + np.concatenate([[0], np.cumsum(n_children)])).astype(np.int32)
    return starts


def parents_of(starts: Labels) -> Labels:
    """The parent of every node; -1 for the root."""
    parents = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
    return np.concatenate([np.array([-1], dtype=np.int32), parents])


def levels_of(starts: Labels) -> list[slice]:
    """The nodes of every level, from the root down."""
    levels = [slice(0, 1)]
    while starts[levels[-1].start] < starts[levels[-1].stop]:
        last = levels[-1]
        levels.append(slice(int(starts[last.start]), int(starts[last.stop])))
    return levels


def leaves_below(starts: Labels) -> Ints:
    """How many leaves every node has below it; a leaf has itself."""
    n_children = np.diff(starts)
    below = np.where(n_children == 0, 1, 0).astype(np.int64)
    parents = parents_of(starts)
    for level in reversed(levels_of(starts)[1:]):
        np.add.at(below, parents[level], below[level])
    return below


def number_leaves(starts: Labels) -> Labels:
    """Numbers of the leaves from left to right, so that those below any node are a run."""
    below = leaves_below(starts)
    first = np.zeros(below.size, dtype=np.int64)  # the first leaf below each node
    for level in levels_of(starts)[:-1]:
        for_children = slice(int(starts[level.start]), int(starts[level.stop]))
        sizes = below[for_children]
        parents = np.repeat(np.arange(level.start, level.stop), np.diff(starts)[level])
        before = np.cumsum(sizes) - sizes  # the leaves left of each child in its level,
        own = starts[parents] - for_children.start  # less those left of its eldest sibling
        first[for_children] = first[parents] + before - before[own]
    return np.where(np.diff(starts) == 0, first, -1).astype(np.int32)


def check_tree(starts: Labels) -> None:
    """Raise ValueError unless these are the starts of a tree, each node before its children."""
    n_nodes = starts.size - 1
    n_children = np.diff(starts)
    if (
        n_nodes < 1
        or starts[0] != 1
        or starts[-1] != n_nodes
        or (n_children < 0).any()
        or (n_children == 1).any()
        or (starts[:-1] <= np.arange(n_nodes))[n_children > 0].any()
    ):
        raise ValueError("tree_starts_ is not a tree")
