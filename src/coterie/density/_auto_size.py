"""A minimum cluster size to which the number of clusters is indifferent."""

from __future__ import annotations

import numpy as np

from coterie.density._condense import condense
from coterie.density._select import Selection, select_clusters
from coterie.neighbors import MergeTree

#: The least size tried; also the neighbours asked for where `min_samples` is not given.
SMALLEST = 5


def suggest_min_cluster_size(merges: MergeTree, rule: Selection) -> int:
    """The start of the longest range of sizes that all give the same number of clusters.

    Sizes from 5 to a quarter of the rows are tried, each sqrt(2) times the last, and ranges are
    compared by the ratio of their ends. Only two or more clusters count; where no size gives them,
    the answer is 5. Each size costs O(n): single linkage is not built again.
    """
    sizes = _sizes(merges.left.size + 1)
    counts = [select_clusters(condense(merges, size), rule).n_clusters for size in sizes]
    best, best_ratio, start = SMALLEST, 0.0, 0
    for i in range(1, len(sizes) + 1):
        if i < len(sizes) and counts[i] == counts[start]:
            continue
        ratio = sizes[i - 1] / sizes[start]
        if counts[start] >= 2 and ratio > best_ratio:
            best, best_ratio = sizes[start], ratio
        start = i
    return best


def _sizes(n_rows: int) -> list[int]:
    """From the smallest to a quarter of the rows."""
    n_steps = max(0, int(2 * np.log2(max(1, n_rows / 4 / SMALLEST))))
    return [round(SMALLEST * 2 ** (step / 2)) for step in range(n_steps + 1)]
