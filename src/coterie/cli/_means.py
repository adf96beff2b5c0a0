"""The mean row of every cluster, of rows here or elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block, Source
from coterie.data.columns import missing_cells, numbers, sorts_of

Floats = npt.NDArray[np.float64]


def cluster_means(rows: Any, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mean row of every cluster, of an array or a source; rows with labels below 0 are in none.

    Missing cells are left out. A column of text has the commonest word of each cluster, and its
    share.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    if isinstance(rows, Source):
        if not n_clusters:
            return np.empty((0, rows.n_cols))
        # As weights each block is given its own labels, and no others have to travel.
        sums = rows.weighted(labels.astype(np.float64)).total(sum_by_label, n_clusters)
        return np.asarray(sums[:, 1:] / sums[:, :1])
    kind = object if rows.dtype == object else np.result_type(rows.dtype, np.float32)
    means = np.empty((n_clusters, rows.shape[1]), dtype=kind)
    for cluster in range(n_clusters):
        means[cluster] = [_typical(column) for column in rows[labels == cluster].T]
    return means


def _typical(column: npt.NDArray[Any]) -> Any:
    """The mean of numbers, the commonest of words; NaN where all cells are missing."""
    known = column[~missing_cells(column)]
    if not len(known):
        return np.nan
    if "word" not in sorts_of(known):
        return numbers(known).mean() if known.dtype == object else known.mean()
    word, count = Counter(known.tolist()).most_common(1)[0]
    return f"{word} ({count / len(known):.0%})"


def sum_by_label(block: Block, n_clusters: int) -> Floats:
    """A pass: how many rows of a block each cluster has, and their sum; weights are labels."""
    assert block.weights is not None
    labels = block.weights.astype(np.int64)
    own = labels >= 0
    counted = np.column_stack([np.ones(block.n_rows), block.rows])[own]
    sums = np.zeros((n_clusters, counted.shape[1]))
    np.add.at(sums, labels[own], counted)
    return sums
