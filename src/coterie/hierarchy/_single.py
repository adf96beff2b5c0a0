"""Single linkage: the edges of the minimum spanning tree, shortest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.neighbors.spanning_tree import SpanningTree

Floats = npt.NDArray[np.float64]


def merge_table(tree: SpanningTree) -> Floats:
    """The merges of single linkage: each edge joins the clusters of its ends (Gower & Ross 1969).

    The edges must be sorted by length. O(n) time and memory.
    """
    table = np.empty((tree.lengths.size, 4))
    kernels.link_edges(tree.heads, tree.tails, tree.lengths, table)
    return table
