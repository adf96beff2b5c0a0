"""DBSCAN where distances are given: a matrix of them, dense or sparse, or a graph.

A sparse matrix holds the distances of neighbours; rows without an entry are far apart, and each row
is its own neighbour. In a graph the distance is that of the shortest path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.density._rule import NOISE, Clustering, DensityRule, Labels


def cluster_precomputed(dists: Any, rule: DensityRule) -> Clustering:
    """Cluster by a square matrix of distances."""
    if sp.issparse(dists):
        return _cluster(kernels.dbscan_sparse, (dists.data, dists.indices, dists.indptr), rule)
    return _cluster(kernels.dbscan_dense, (dists,), rule)


def cluster_graph(lengths: Any, rule: DensityRule) -> Clustering:
    """Cluster the nodes of a graph by its shortest paths; `lengths` is CSR, one entry an edge."""
    return _cluster(kernels.dbscan_graph, (lengths.data, lengths.indices, lengths.indptr), rule)


def _cluster(kernel: Any, given: tuple[Any, ...], rule: DensityRule) -> Clustering:
    n_rows = given[0].shape[0] if len(given) == 1 else given[2].shape[0] - 1
    labels = np.empty(n_rows, dtype=np.int64)
    core = np.empty(n_rows, dtype=np.uint8)
    n_clusters = kernel(
        *given, rule.weights, rule.eps, rule.min_samples, rule.border, labels, core, rule.n_threads
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
