"""Graphs: lengths of arcs out of a sparse matrix or a networkx graph, and shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie._sparse import canonical_csr, contradiction

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """Arcs *into* each node, so that searches from a node find the paths that lead to it.

    `lengths` is None where every arc is a hop; `both_ways` whether each arc has its like in the
    other direction; `names` are of the nodes, None for their numbers.
    """

    starts: Ids
    heads: Labels
    lengths: Floats | None
    both_ways: bool
    names: list[Any] | None

    @property
    def n_nodes(self) -> int:
        return self.starts.size - 1

    @property
    def n_parts(self) -> int:
        """How many parts there are that no arc connects, in whatever direction."""
        arcs = (np.ones(self.heads.size, dtype=np.int8), self.heads, self.starts)
        square = sp.csr_array(arcs, shape=(self.n_nodes, self.n_nodes))
        return int(connected_components(square, directed=False, return_labels=False))

    def nearest(self, nodes: Ids) -> tuple[Labels, Floats]:
        """For every node the nearest of these, ties to the first, and how far; -1 and infinity
        where there is no path to any."""
        labels, distances = np.empty(self.n_nodes, dtype=np.int32), np.empty(self.n_nodes)
        sources = np.ascontiguousarray(nodes, dtype=np.int32)
        kernels.nearest_nodes(self.starts, self.heads, self.lengths, sources, distances, labels)
        return labels, distances

    def medoids(self, labels: Labels, weights: Floats | None, before: Ids, n_threads: int) -> Ids:
        """The node of every cluster with the least sum of paths within it."""
        found = before.copy()
        kernels.graph_medoids(
            self.starts, self.heads, self.lengths, labels, weights, self.both_ways, found, n_threads
        )
        return found


def as_graph(who: str, given: Any) -> Graph:
    """A graph out of a SciPy sparse adjacency, whose entries are lengths, or of networkx.

    True and False are hops: all arcs count one. Entries that are stored are arcs, also zeros.
    Of a networkx graph the lengths are the edge attribute "weight"; where no edge has it, hops.
    """
    names = None
    if hasattr(given, "adjacency") and hasattr(given, "nodes"):
        names, given = list(given.nodes), _of_networkx(given)
    if not sp.issparse(given):
        raise ValueError(
            f"{who}: metric='geodesic' was given a {type(given).__name__}; pass a SciPy sparse "
            "adjacency of lengths (of bool for hops) or a networkx graph."
        )
    if given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise ValueError(
            f"{who}: the adjacency has shape {given.shape}; pass a square of one or more nodes."
        )
    found = contradiction(given)
    if found is not None:
        raise ValueError(f"{who}: the adjacency contradicts itself ({found}); build it anew.")
    if given.dtype.kind not in "biuf":
        raise ValueError(
            f"{who}: the adjacency holds {given.dtype}; pass lengths as real numbers, or bool."
        )
    hops = given.dtype == bool
    table = canonical_csr(sp.csr_array(given, dtype=np.float64))
    bad = ~(table.data >= 0) | np.isinf(table.data)
    if bad.any():
        raise ValueError(
            f"{who}: an edge has the length {table.data[bad][0]:g}; pass lengths that are finite "
            "and not negative."
        )
    back = sp.csr_array(table.T)
    back.sort_indices()
    both_ways = (
        np.array_equal(table.indptr, back.indptr)
        and np.array_equal(table.indices, back.indices)
        and (hops or np.array_equal(table.data, back.data))
    )
    lengths = None if hops else np.ascontiguousarray(back.data)
    return Graph(
        back.indptr.astype(np.int64), back.indices.astype(np.int32), lengths, both_ways, names
    )


def _of_networkx(graph: Any) -> Any:
    """The adjacency of a networkx graph; of several edges between two nodes, the shortest."""
    place = {node: at for at, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data="weight"))
    hops = all(weight is None for *_, weight in edges)
    shortest: dict[tuple[int, int], float] = {}
    for tail, head, weight in edges:
        length = 1.0 if weight is None else float(weight)
        ways = [(place[tail], place[head])]
        if not graph.is_directed():
            ways.append((place[head], place[tail]))
        for way in ways:
            known = shortest.get(way)
            shortest[way] = length if known is None or not known <= length else known
    ends = np.array(list(shortest), dtype=np.int64).reshape(-1, 2).T
    values = np.array(list(shortest.values()), dtype=bool if hops else np.float64)
    return sp.coo_array((values, (ends[0], ends[1])), shape=(len(place), len(place))).tocsr()


def closeness(graph: Any, labels: Any = None, *, n_threads: int | None = None) -> Floats:
    """How close each node is to the nodes of its cluster: C(x) = 1 / sum_y d(y, x).

    d(y, x) is the length of the shortest path from y to x that stays within the cluster. Nodes
    without a path to x are left out; a node that none reaches has closeness 0. One search per node
    (Dijkstra 1959; breadth-first for hops): O(sum over nodes of arcs in the cluster), times log n
    with lengths. Memory O(n) per thread. networkx' closeness is this times the number of nodes that
    reach x.

    Parameters
    ----------
    graph : SciPy sparse adjacency or networkx graph
        Entry (y, x) is the length of the arc from y to x; bool: every arc is one hop.
    labels : int array of shape (n_nodes,) or None
        The cluster of each node, below zero for none; None: one cluster.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    float64 array of shape (n_nodes,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool))
    >>> closeness(path).round(3).tolist()
    [0.333, 0.5, 0.333]
    """
    found = as_graph("closeness", graph)
    own: Any = np.zeros(found.n_nodes, int) if labels is None else np.asarray(labels)
    if own.shape != (found.n_nodes,) or own.dtype.kind not in "iu":
        raise ValueError(
            f"closeness: labels has shape {own.shape} and the graph {found.n_nodes} nodes; pass a "
            "whole number per node."
        )
    own = own.astype(np.int32)
    ids, compact = np.unique(own, return_inverse=True)
    own = np.where(own < 0, -1, compact).astype(np.int32)
    sums, n_reached = np.empty(found.n_nodes), np.empty(found.n_nodes, dtype=np.int64)
    kernels.closeness_sums(
        found.starts, found.heads, found.lengths, own, ids.size, sums, n_reached,
        resolve_n_threads(n_threads, "closeness"),
    )  # fmt: skip
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
