"""Genie: single linkage that is held back from making clusters of very unequal sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.neighbors import SpanningTree
from coterie.neighbors.spanning import prim

Floats = npt.NDArray[np.float64]


def genie_table(tree: SpanningTree, gini_threshold: float) -> Floats:
    """The merges of Genie: the edges of the minimum spanning tree, in another order.

    Gagolewski, Bartoszuk and Cena (2016). The shortest edge that is left is taken; but while the
    Gini index of the k cluster sizes, ::

        G = sum_{i < j} |c_i - c_j| / ((k - 1) n),

    exceeds the threshold, the shortest one that touches a cluster of the least size. Heights are
    the lengths of the edges, and so they may fall. O(n log n) time, O(n) memory.
    """
    table = np.empty((tree.lengths.size, 4))
    kernels.link_genie(tree.heads, tree.tails, tree.lengths, gini_threshold, table)
    return table


def triangle_tree(lengths: npt.NDArray[Any], n_rows: int) -> SpanningTree:
    """The minimum spanning tree of condensed distances; O(n^2) time, O(n) memory."""
    rows = np.arange(n_rows)
    starts = rows * n_rows - rows * (rows + 1) // 2  # of the pairs (i, i + 1), (i, i + 2) ...

    def lengths_from(i: int) -> Floats:
        before = lengths[starts[:i] + (i - rows[:i] - 1)]
        after = lengths[starts[i] : starts[i] + n_rows - 1 - i]
        return np.concatenate([before, [0.0], after]).astype(np.float64, copy=False)

    return prim(n_rows, lengths_from)
