"""Single linkage along a graph: the edges of its minimum spanning tree, shortest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from coterie.neighbors import SpanningTree, merge_tree

Ints = npt.NDArray[np.int64]


def graph_tree(near: list[dict[int, float]]) -> SpanningTree:
    """The least tree of a connected graph, each edge in the direction in which SciPy finds it.

    Every edge is there both ways; which of them SciPy's sort meets first decides what scikit-learn
    calls the first part of a merge, and so its labels. Equal edges come in the order of their rows.

    Parameters
    ----------
    near
        The neighbours of every row and their distances.
    """
    ends = [sorted(others) for others in near]
    indptr = np.cumsum([0, *map(len, ends)])
    indices = np.array([j for others in ends for j in others], dtype=np.int64)
    lengths = np.array([near[i][j] for i, others in enumerate(ends) for j in others])
    # SciPy reads 0 as "no edge": a rank in its place sorts as the length does.
    ranks = np.unique(lengths, return_inverse=True)[1] + 1.0
    found = sp.coo_array(
        minimum_spanning_tree(sp.csr_array((ranks, indices, indptr), shape=(len(near),) * 2))
    )
    by_length = np.argsort(found.data, kind="stable")
    heads, tails = found.row[by_length], found.col[by_length]
    between = [near[i][j] for i, j in zip(heads.tolist(), tails.tolist(), strict=True)]
    return SpanningTree(heads.astype(np.int32), tails.astype(np.int32), np.array(between))


def heads_first(tree: SpanningTree) -> Ints:
    """The parts of each merge: that with the head of the edge, then that with its tail."""
    merges = merge_tree(tree.heads, tree.tails, tree.lengths)
    return np.column_stack([merges.left, merges.right]).astype(np.int64)
