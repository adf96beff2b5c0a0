"""The mean row of every cluster, of rows here or elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block, Source

Floats = npt.NDArray[np.float64]


def cluster_means(rows: Any, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mean row of every cluster, of an array or a source; rows with the label -1 are in none."""
    n_clusters = int(labels.max(initial=-1)) + 1
    if isinstance(rows, Source):
        if not n_clusters:
            return np.empty((0, rows.n_cols))
        # As weights each block is given its own labels, and no others have to travel.
        sums = rows.weighted(labels.astype(np.float64)).total(sum_by_label, n_clusters)
        return np.asarray(sums[:, 1:] / sums[:, :1])
    means = [rows[labels == label].mean(axis=0) for label in range(n_clusters)]
    return np.array(means).reshape(n_clusters, rows.shape[1])


def sum_by_label(block: Block, n_clusters: int) -> Floats:
    """A pass: how many rows of a block each cluster has, and their sum; weights are labels."""
    assert block.weights is not None
    labels = block.weights.astype(np.int64)
    own = labels >= 0
    counted = np.column_stack([np.ones(block.n_rows), block.rows])[own]
    sums = np.zeros((n_clusters, counted.shape[1]))
    np.add.at(sums, labels[own], counted)
    return sums
