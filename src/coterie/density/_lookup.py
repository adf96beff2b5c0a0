"""DBSCAN where distances are given: a matrix of them, dense or sparse, or a graph.

A sparse matrix holds the distances of neighbours; rows without an entry are far apart, and each row
is its own neighbour. In a graph the distance is that of the shortest path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from coterie._kernels import kernels
from coterie._labels import NOISE
from coterie.density._rule import Clustering, DensityRule, Labels

#: Distances looked at together: 32 MB of them.
SLAB_ENTRIES = 1 << 22


def cluster_precomputed(dists: Any, rule: DensityRule) -> Clustering:
    """Cluster by a square matrix of distances."""
    return _cluster(kernels.dbscan_precomputed, dists, rule)


def cluster_graph(lengths: Any, rule: DensityRule) -> Clustering:
    """Cluster the nodes of a graph by its shortest paths; `lengths` is CSR, one entry per edge."""
    return _cluster(kernels.dbscan_graph, lengths, rule)


def _cluster(kernel: Any, given: Any, rule: DensityRule) -> Clustering:
    n_rows = given.shape[0]
    labels = np.empty(n_rows, dtype=np.int64)
    core = np.empty(n_rows, dtype=np.uint8)
    n_clusters = kernel(
        given, rule.weights, rule.eps, rule.min_samples, rule.border, labels, core, rule.n_threads
    )
    return Clustering(labels, core.view(np.bool_), n_clusters)


def label_by_distances(dists: Any, core_labels: Labels, rule: DensityRule) -> Labels:
    """The cluster each row joins, given its distances to the core rows, (n_rows, n_core)."""
    if sp.issparse(dists):
        pairs = dists.tocoo()
        near = pairs.data <= rule.eps
        row, core, dist = pairs.row[near], pairs.col[near], pairs.data[near]
    else:
        row, core = np.nonzero(dists <= rule.eps)
        dist = dists[row, core]
    rank = core_labels[core] if rule.border == "first" else dist
    best_first = np.lexsort((core, rank, row))
    found, place = np.unique(row[best_first], return_index=True)
    labels = np.full(dists.shape[0], NOISE, dtype=np.int64)
    labels[found] = core_labels[core[best_first[place]]]
    return labels


def label_by_equality(core_rows: Any, core_labels: Labels, rows: Any) -> Labels:
    """The cluster of the core row that each row equals in all columns; -1 where there is none."""
    both = np.concatenate([core_rows, rows]) + 0.0  # no zero is negative
    both[np.isnan(both)] = np.nan  # one kind of missing cell
    keys = both.view(f"V{both.itemsize * both.shape[1]}").ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    twin = first[group.ravel()[core_labels.size :]]  # core rows stand first
    known = np.append(core_labels, NOISE)
    return known[np.minimum(twin, core_labels.size)]


def label_by_walks(
    graph: Any, edges: Any, core_ids: Labels, core_labels: Labels, rule: DensityRule
) -> Labels:
    """The cluster each new node joins, given its `edges` to the nodes of the graph, CSR.

    A walk leaves the new node by one of its edges and goes on in the graph.
    """
    n_nodes, n_new = graph.shape[0], edges.shape[0]
    whole = sp.vstack([graph, edges], format="csr")
    whole.resize((n_nodes + n_new, n_nodes + n_new))
    labels = np.empty(n_new, dtype=np.int64)
    step = max(1, SLAB_ENTRIES // (n_nodes + n_new))
    for start in range(0, n_new, step):
        part = np.arange(start, min(n_new, start + step))
        paths = dijkstra(whole, indices=n_nodes + part, limit=rule.eps)
        labels[part] = label_by_distances(paths[:, core_ids], core_labels, rule)
    return labels


def find_core_again(given: Any, core_given: Any, core_ids: Labels) -> npt.NDArray[np.bool_]:
    """Which core rows stand in their place in `given` again, with all they had at the fit."""
    again = given[core_ids]
    if sp.issparse(given):
        return np.asarray((again != core_given).sum(axis=1)).ravel() == 0
    return np.asarray((again == core_given).all(axis=1))


def count_one_way(given: Any, eps: float, lengths_matter: bool) -> int:
    """Pairs of rows within eps one way and not the other, or not at the same length.

    Dense matrices are looked at in strips; sparse ones take their memory once more.
    """
    if sp.issparse(given):
        near = given.tocoo()
        kept = (near.data <= eps) & (near.row != near.col)
        row, col, length = near.row[kept], near.col[kept], near.data[kept]
        # From 1 on, so that no entry is zero.
        value = 1 + (np.unique(length, return_inverse=True)[1] if lengths_matter else 0 * row)
        there = sp.csr_matrix((value.ravel(), (row, col)), shape=given.shape)
        return int((there != there.T).nnz) // 2
    n_rows, n_found = given.shape[0], 0
    step = max(1, SLAB_ENTRIES // max(1, n_rows))
    for start in range(0, n_rows, step):
        here, there = given[start : start + step], given[:, start : start + step].T
        near_here, near_there = here <= eps, there <= eps
        differs = near_here != near_there
        if lengths_matter:
            differs |= near_here & (here != there)
        n_found += int(np.count_nonzero(differs))
    return n_found // 2
