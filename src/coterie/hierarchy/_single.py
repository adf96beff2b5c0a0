"""Single linkage: the edges of the minimum spanning tree, shortest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.neighbors import SpanningTree, merge_tree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def merge_table(tree: SpanningTree) -> Floats:
    """The merges of single linkage: each edge joins the clusters of its ends (Gower & Ross 1969).

    The edges are taken as they come, which is by length. O(n) time and memory.
    """
    merges = merge_tree(tree.heads, tree.tails, tree.lengths)
    table = np.empty((merges.height.size, 4))
    table[:, 0] = np.minimum(merges.left, merges.right)
    table[:, 1] = np.maximum(merges.left, merges.right)
    table[:, 2] = merges.height
    table[:, 3] = merges.size
    return table


def heads_first(tree: SpanningTree) -> Ints:
    """The parts of each merge: that with the head of the edge, then that with its tail."""
    merges = merge_tree(tree.heads, tree.tails, tree.lengths)
    return np.column_stack([merges.left, merges.right]).astype(np.int64)
