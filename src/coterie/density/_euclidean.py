"""DBSCAN of Euclidean rows: a grid of cells for few columns, tiles of pairs for many.

Within means that the squared distance, summed directly in float64, is at most eps * eps, for
float32 rows too. Nothing of a neighbourhood is kept, so memory is O(n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.density._rule import Clustering, DensityRule, Labels

Rows = npt.NDArray[Any]

#: Columns up to which a grid is laid.
GRID_COLUMNS = 3


def cluster_rows(rows: Rows, rule: DensityRule) -> Clustering:
    """Cluster rows by the rule; on a grid where one can be laid, else on tiles."""
    labels = np.empty(rows.shape[0], dtype=np.int64)
    core = np.empty(rows.shape[0], dtype=np.uint8)
    given = (rule.weights, rule.eps, rule.min_samples, rule.border, labels, core, rule.n_threads)
    n_clusters = None
    if rows.shape[1] <= GRID_COLUMNS:
        n_clusters = kernels.dbscan_grid(rows, *given)
    if n_clusters is None:
        n_clusters = kernels.dbscan_tiles(rows, *given)
    return Clustering(labels, core.view(np.bool_), n_clusters)


def label_by_core(core_rows: Rows, core_labels: Labels, rows: Rows, rule: DensityRule) -> Labels:
    """The cluster that each of `rows` joins, given the core rows; -1 for none."""
    labels = np.empty(rows.shape[0], dtype=np.int64)
    kernels.label_by_core(
        core_rows, core_labels, rule.eps, rule.border, rows, labels, rule.n_threads
    )
    return labels
