"""Agglomerative clustering where only connected clusters may join."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coterie import distance
from coterie._doors import check_sparse
from coterie.hierarchy._single import merge_table
from coterie.neighbors import SpanningTree
from coterie.neighbors.spanning import by_length, graph_tree

Floats = npt.NDArray[np.float64]
Neighbors = dict[int, float]  # distance of each neighbour
#: Distances of one row to some others, and of some rows to some others.
Lengths = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Floats]

#: Distance to the union of two parts, from the distances of both and their sizes.
_JOIN: dict[str, Callable[[float, float, float, float], float]] = {
    "single": lambda d_a, d_b, n_a, n_b: min(d_a, d_b),
    "complete": lambda d_a, d_b, n_a, n_b: max(d_a, d_b),
    "average": lambda d_a, d_b, n_a, n_b: (n_a * d_a + n_b * d_b) / (n_a + n_b),
    "weighted": lambda d_a, d_b, n_a, n_b: (d_a + d_b) / 2,
}


def link_connected(
    graph: Any, method: str, lengths: Lengths, rows: npt.NDArray[Any] | None, *, who: str
) -> tuple[Floats, int, SpanningTree | None]:
    """The merge table, how many pieces the graph was in, and for single linkage its tree.

    The closest connected pair is joined, again and again; the union has the neighbours of both. A
    neighbour of only one part keeps its distance to that (scikit-learn's rule); Ward, centroid
    and median linkage measure between centres. Time O(m log m) for m connections.

    Parameters
    ----------
    graph
        Connections, (n_rows, n_rows), taken as symmetric.
    lengths
        ``lengths(i, j)``: distances between rows i and rows j, (len(i), len(j)).
    rows
        Needed for Ward, centroid and median linkage only.
    """
    near, n_pieces = _connect(graph, lengths, who)
    measure: _Edges | _Centers = _Edges(method) if method in _JOIN else _Centers(rows, method)
    measure.start(near, lengths)
    _check_lengths(near, who)
    if method == "single":
        tree = _least_tree(near)
        return merge_table(tree), n_pieces, tree
    return _join_nearest(near, measure), n_pieces, None


def _least_tree(near: list[Neighbors]) -> SpanningTree:
    """The least tree of a connected graph, each edge in the direction in which SciPy finds it.

    Every edge is listed both ways; which of them SciPy's sort meets first decides what scikit-learn
    calls the first part of a merge, and so its labels.
    """
    edges = [(i, j, others[j]) for i, others in enumerate(near) for j in sorted(others)]
    heads, tails, lengths = np.array(edges).reshape(-1, 3).T
    ends = heads.astype(np.int64), tails.astype(np.int64)
    return graph_tree(len(near), *ends, lengths, ranks=by_length)


def _join_nearest(near: list[Neighbors], measure: _Edges | _Centers) -> Floats:
    """Join the closest connected pair until one cluster is left."""
    queue = [(dist, i, j) for i, others in enumerate(near) for j, dist in others.items() if j < i]
    heapify(queue)
    n_rows = len(near)
    size = [1] * n_rows
    table = np.empty((n_rows - 1, 4))
    for new in range(n_rows, 2 * n_rows - 1):
        dist, i, j = heappop(queue)
        while i not in near[j]:  # one of them has been joined since
            dist, i, j = heappop(queue)
        table[new - n_rows] = min(i, j), max(i, j), measure.height(dist), size[i] + size[j]
        size.append(size[i] + size[j])
        del near[i][j], near[j][i]
        joined = measure.join(near[i], near[j], i, j, size)
        for other, dist in joined.items():
            near[other].pop(i, None)
            near[other].pop(j, None)
            near[other][new] = dist
            heappush(queue, (dist, new, other))
        near[i], near[j] = {}, {}
        near.append(joined)
    return table


class _Edges:
    """Distances of unions from those of their parts."""

    def __init__(self, method: str) -> None:
        self._join = _JOIN[method]

    def start(self, near: list[Neighbors], lengths: Lengths) -> None:
        for i, others in enumerate(near):
            earlier = np.array([j for j in others if j < i], dtype=np.int64)
            if earlier.size:
                for j, dist in zip(earlier, lengths(np.array([i]), earlier)[0], strict=True):
                    near[i][int(j)] = near[int(j)][i] = float(dist)

    def join(self, a: Neighbors, b: Neighbors, i: int, j: int, size: list[int]) -> Neighbors:
        joined = {**a, **b}
        for other in a.keys() & b.keys():
            joined[other] = self._join(a[other], b[other], size[i], size[j])
        return joined

    @staticmethod
    def height(dist: float) -> float:
        return dist


class _Centers:
    """Distances of unions from their centres: squared, for Ward's times n_a n_b / (n_a + n_b)."""

    def __init__(self, rows: Any, method: str) -> None:
        self._method = method
        n_rows = len(rows)
        self._centers = np.empty((2 * n_rows - 1, rows.shape[1]))
        self._centers[:n_rows] = rows
        self._sizes = np.ones(2 * n_rows - 1)
        self._next = n_rows

    def _dists(self, i: int, others: list[int]) -> Floats:
        gaps = self._centers[others] - self._centers[i]
        dists = np.square(gaps).sum(axis=1)
        if self._method == "ward":
            n, n_i = self._sizes[others], self._sizes[i]
            dists *= n * n_i / (n + n_i)
        return np.asarray(dists)

    def start(self, near: list[Neighbors], lengths: Lengths) -> None:
        for i, others in enumerate(near):
            earlier = [j for j in others if j < i]
            for j, dist in zip(earlier, self._dists(i, earlier).tolist(), strict=True):
                near[i][j] = near[j][i] = dist

    def join(self, a: Neighbors, b: Neighbors, i: int, j: int, size: list[int]) -> Neighbors:
        n_i, n_j = self._sizes[i], self._sizes[j]
        share = 0.5 if self._method == "median" else n_j / (n_i + n_j)
        new, self._next = self._next, self._next + 1
        self._sizes[new] = n_i + n_j
        self._centers[new] = self._centers[i] + share * (self._centers[j] - self._centers[i])
        others = [*a, *(other for other in b if other not in a)]
        return dict(zip(others, self._dists(new, others).tolist(), strict=True))

    def height(self, dist: float) -> float:
        return float(np.sqrt(2 * dist if self._method == "ward" else dist))


def _connect(graph: Any, lengths: Lengths, who: str) -> tuple[list[Neighbors], int]:
    """Neighbours of every row; pieces of the graph are linked where they are closest."""
    symmetric = sp.csr_array(graph)
    symmetric = sp.csr_array(symmetric + symmetric.T)
    n_pieces, piece = connected_components(symmetric, directed=False)
    near: list[Neighbors] = [
        dict.fromkeys(symmetric.indices[start:stop].tolist(), 0.0)
        for start, stop in zip(symmetric.indptr[:-1], symmetric.indptr[1:], strict=True)
    ]
    for i, others in enumerate(near):
        others.pop(i, None)
    if n_pieces > 1:
        warnings.warn(
            f"{who}: the number of connected components of the connectivity matrix is {n_pieces} "
            "> 1. Completing it to avoid stopping the tree early.",
            UserWarning,
            stacklevel=4,
        )
        members = [np.flatnonzero(piece == p) for p in range(n_pieces)]
        for first, second in combinations(members, 2):
            table = lengths(second, first)
            at, to = np.unravel_index(table.argmin(), table.shape)
            near[second[at]][int(first[to])] = near[first[to]][int(second[at])] = 0.0
    return near, int(n_pieces)


def _check_lengths(near: list[Neighbors], who: str) -> None:
    """Refuse a connection whose distance is no number, infinite or below zero."""
    for i, others in enumerate(near):
        for j, dist in others.items():
            if not 0 <= dist < np.inf:
                raise ValueError(
                    f"{who}: rows {i} and {j} are connected and their distance is {dist:.3g}; "
                    "connected rows need a finite distance of at least zero."
                )


def lengths_of(metric: distance.Metric, rows: npt.NDArray[Any], n_threads: int) -> Lengths:
    """Distances between prepared rows, by their numbers."""
    return lambda i, j: metric.lengths(rows[i], rows[j], n_threads)


def check_graph(connectivity: Any, n_rows: int, who: str) -> Any:
    """Refuse a graph of other rows, or one that points outside of them."""
    check_sparse(who, connectivity, "connectivity")
    graph = connectivity if sp.issparse(connectivity) else np.asarray(connectivity)
    if graph.shape != (n_rows, n_rows):
        raise ValueError(
            f"{who}: Wrong shape for connectivity matrix: {graph.shape} when X has {n_rows} rows; "
            f"pass one of shape {(n_rows, n_rows)}."
        )
    return graph
