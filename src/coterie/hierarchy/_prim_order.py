"""The two parts of every merge in the order in which Prim's algorithm meets them.

scikit-learn numbers the parts of single linkage this way, and its labels follow from it.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.neighbors.spanning_tree import SpanningTree

Ints = npt.NDArray[np.int64]


def order_parts(children: Ints, tree: SpanningTree) -> Ints:
    """Put the part that Prim's algorithm meets first, from row 0 on, before the other."""
    n_rows = len(children) + 1
    met = np.empty(2 * n_rows - 1, dtype=np.int64)  # when the first row of each node is met
    met[:n_rows] = _when_met(tree)
    ordered = children.copy()
    for node, (first, second) in enumerate(children.tolist(), n_rows):
        met[node] = min(met[first], met[second])
        if met[second] < met[first]:
            ordered[node - n_rows] = second, first
    return ordered


def _when_met(tree: SpanningTree) -> Ints:
    """The place of every row in the order of Prim's algorithm, which walks along the tree."""
    n_rows = tree.lengths.size + 1
    rank = np.arange(1, n_rows)  # edges are sorted: their places compare as their lengths do
    graph = sp.csr_array((rank, (tree.heads, tree.tails)), shape=(n_rows, n_rows))
    graph = sp.csr_array(graph + graph.T)
    starts, ends, ranks = graph.indptr.tolist(), graph.indices.tolist(), graph.data.tolist()
    met = np.full(n_rows, -1, dtype=np.int64)
    queue = [(0, 0)]
    for place in range(n_rows):
        _, row = heappop(queue)
        met[row] = place
        for at in range(starts[row], starts[row + 1]):
            if met[ends[at]] < 0:
                heappush(queue, (ranks[at], ends[at]))
    return met
