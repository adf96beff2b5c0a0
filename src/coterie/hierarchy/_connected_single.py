"""Single linkage along a graph: the edges of its minimum spanning tree, shortest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from coterie.neighbors.spanning_tree import SpanningTree

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


def heads_first(children: Ints, tree: SpanningTree) -> Ints:
    """Put the part with the head of the edge before the part with its tail."""
    n_rows = len(children) + 1
    above = list(range(2 * n_rows - 1))  # the node itself, or one that it is in

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    ordered = children.copy()
    for node, (head, (first, second)) in enumerate(
        zip(tree.heads.tolist(), children.tolist(), strict=True), n_rows
    ):
        if top(head) == second:
            ordered[node - n_rows] = second, first
        above[first] = above[second] = node
    return ordered
