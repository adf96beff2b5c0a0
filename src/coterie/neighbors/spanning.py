"""Spanning trees: their edges, and the least one of a table of distances or of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from coterie._kernels import kernels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[Any]


@dataclass(frozen=True)
class SpanningTree:
    """Edges of a spanning tree, shortest first; equal ones by head, then by tail.

    `heads` and `tails` (int32) are the rows an edge joins, head < tail, and `lengths` (float64)
    its length; each has one entry less than there are rows. `from_first_row` turns edges round.
    """

    heads: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]
    lengths: Floats

    @staticmethod
    def empty(n_rows: int) -> SpanningTree:
        """Room for the edges of so many rows."""
        heads, tails = (np.empty(n_rows - 1, dtype=np.int32) for _ in range(2))
        return SpanningTree(heads, tails, np.empty(n_rows - 1))

    def from_first_row(self) -> SpanningTree:
        """The same tree with heads and tails as Prim's algorithm, started at row 0, meets them.

        Of the parts that an edge joins in single linkage, that of its head is then met first.
        """
        heads, tails = self.heads.copy(), self.tails.copy()
        kernels.point_away_from_first(heads, tails)
        return SpanningTree(heads, tails, self.lengths)


def prim(
    n_rows: int, lengths_from: Callable[[int], Floats], cores: Floats | None = None
) -> SpanningTree:
    """Prim's algorithm over any table of distances, asked for one row at a time.

    Parameters
    ----------
    n_rows
        How many rows the tree spans.
    lengths_from
        Gives the distances of a row to all rows, shape (n_rows,).
    cores
        Core distances of the rows, or None.
    """
    rows = np.arange(n_rows)
    is_outside = np.ones(n_rows, dtype=bool)
    length = np.full(n_rows, np.inf)
    parent = np.full(n_rows, n_rows)
    edges = np.empty(max(0, n_rows - 1), dtype=[("length", "f8"), ("head", "i4"), ("tail", "i4")])
    taken = 0
    for edge in edges:
        is_outside[taken] = False
        offered = lengths_from(taken)
        if cores is not None:
            offered = np.maximum(np.maximum(offered, cores[taken]), cores)
        better = is_outside & _is_less(offered, taken, length, parent, rows)
        length[better], parent[better] = offered[better], taken
        candidates = np.flatnonzero(is_outside & (length == length[is_outside].min()))
        low = np.minimum(parent[candidates], candidates)
        high = np.maximum(parent[candidates], candidates)
        at = np.lexsort((high, low))[0]
        taken = int(candidates[at])
        edge["length"], edge["head"], edge["tail"] = length[taken], low[at], high[at]
    edges.sort(order=["length", "head", "tail"])
    heads, tails = (np.ascontiguousarray(edges[end]) for end in ("head", "tail"))
    return SpanningTree(heads, tails, np.ascontiguousarray(edges["length"]))


def _is_less(
    length: Floats, end: int, than: Floats, other_end: npt.NDArray[Any], rows: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Whether the edges from rows to `end` come before those to `other_end`."""
    new = np.minimum(end, rows), np.maximum(end, rows)
    old = np.minimum(other_end, rows), np.maximum(other_end, rows)
    earlier = (new[0] < old[0]) | ((new[0] == old[0]) & (new[1] < old[1]))
    return np.asarray((length < than) | ((length == than) & earlier))


#: From heads, tails and lengths to the rank of each edge, from 1 on, and the length of each rank.
Ranks = Callable[[Ints, Ints, Floats], tuple[Floats, Floats]]


def by_ends(heads: Ints, tails: Ints, lengths: Floats) -> tuple[Floats, Floats]:
    """Equal edges by head, then by tail: there is one least tree."""
    order = np.lexsort((tails, heads, lengths))
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    return ranks, lengths[order]


def by_length(heads: Ints, tails: Ints, lengths: Floats) -> tuple[Floats, Floats]:
    """Equal edges have one rank; SciPy's sort decides among them, and between their directions."""
    distinct, place = np.unique(lengths, return_inverse=True)
    return place.astype(np.float64) + 1, distinct


def graph_tree(
    n_rows: int, heads: Ints, tails: Ints, lengths: Floats, ranks: Ranks = by_ends
) -> SpanningTree:
    """The least tree of listed edges; one for each piece where the graph is in pieces.

    SciPy's on the ranks of the edges, as it takes a length of 0 for no edge. No edge is listed
    twice in one direction; where it is listed both ways the tree has it in one of them.
    """
    rank, length_of_rank = ranks(heads, tails, lengths)
    graph = sp.csr_array((rank, (heads, tails)), shape=(n_rows, n_rows))
    found = sp.coo_array(minimum_spanning_tree(graph))
    shortest_first = np.argsort(found.data, kind="stable")
    return SpanningTree(
        found.row[shortest_first].astype(np.int32),
        found.col[shortest_first].astype(np.int32),
        length_of_rank[found.data[shortest_first].astype(np.int64) - 1],
    )
