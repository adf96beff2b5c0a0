"""k-medoids on a road network, made as a perturbed grid: one step from given medoids."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Outcome, Workload


def make(n_clusters: int, n_nodes: int) -> Arrays:
    """A square grid with diagonals, lengths from 0.5 to 1.5, in CSR, and nodes to start from."""
    rng = np.random.default_rng(0)
    side = int(np.sqrt(n_nodes))
    ids = np.arange(side * side).reshape(side, side)
    pairs = [(ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:]), (ids[:-1, :-1], ids[1:, 1:])]
    tails, heads = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    lengths = rng.uniform(0.5, 1.5, tails.size)
    one_way = sp.coo_array((lengths, (tails, heads)), shape=(ids.size, ids.size)).tocsr()
    graph = sp.csr_array(one_way + one_way.T)
    start = rng.choice(ids.size, n_clusters, replace=False).astype(np.int64)
    return {
        "data": graph.data, "indices": graph.indices, "indptr": graph.indptr, "start": start,
    }  # fmt: skip


def graph_of(arrays: Arrays) -> Any:
    """The adjacency."""
    n_nodes = arrays["indptr"].size - 1
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sp.csr_array(parts, shape=(n_nodes, n_nodes))


def coterie_graph(arrays: Arrays) -> Call:
    """Ours."""
    from coterie import KMedoids

    graph, start = graph_of(arrays), arrays["start"]
    model = KMedoids(start.size, metric="geodesic", init=start, max_iter=1, n_threads=N_THREADS)

    def call() -> Outcome:
        model.fit(graph)
        return Outcome(model.medoid_indices_, model.n_iter_)

    return call


def scipy_graph(arrays: Arrays) -> Call:
    """The same by SciPy: Dijkstra from all medoids at once, then from every node of a cluster."""
    from scipy.sparse.csgraph import dijkstra

    graph, start = graph_of(arrays), arrays["start"]

    def call() -> Outcome:
        found = dijkstra(graph, indices=start, min_only=True, return_predecessors=True)
        medoids = start.copy()
        for slot, medoid in enumerate(start):
            own = np.flatnonzero(found[2] == medoid)
            inside = graph[own][:, own]
            sums = [dijkstra(inside, indices=node).sum() for node in range(own.size)]
            medoids[slot] = own[int(np.argmin(sums))]
        return Outcome(medoids, 1)

    return call


def judge(arrays: Arrays, medoids: NDArray[Any]) -> float:
    """The total deviation of these medoids."""
    from scipy.sparse.csgraph import dijkstra

    return float(dijkstra(graph_of(arrays), indices=medoids, min_only=True).sum())


WORKLOADS = [
    Workload(
        "medoids-graph",
        "k-medoids on a grid of 1e5 nodes and 3e5 edges, one step, k=20",
        100_000,
        functools.partial(make, 20),
        [peers.coterie(coterie_graph), peers.scipy(scipy_graph)],
        judge,
        judged_by="TD",
    ),
]
