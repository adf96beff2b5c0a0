"""Single linkage: the edges of the minimum spanning tree, shortest first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.distance import Metric
from coterie.neighbors.spanning_tree import SpanningTree, spanning_tree

Floats = npt.NDArray[np.float64]


def link_single(X: Any, metric: Metric, *, n_threads: int) -> Floats:
    """The merge table of rows: each edge joins the clusters of its ends (Gower and Ross 1969).

    Boruvka over a kd-tree in few columns, Prim otherwise; O(n) memory.
    """
    return merge_table(spanning_tree(X, metric=metric, n_threads=n_threads))


def merge_table(tree: SpanningTree) -> Floats:
    """The merges of a tree whose edges are sorted."""
    table = np.empty((tree.lengths.size, 4))
    kernels.link_edges(tree.heads, tree.tails, tree.lengths, table)
    return table
