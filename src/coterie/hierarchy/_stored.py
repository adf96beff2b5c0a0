"""Whether the merges of a model file form a tree: such a file may be damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie._stored import Sizes


def check_merges(children: npt.NDArray[Any], n_rows: int) -> None:
    """Refuse merges of clusters that are not there yet, or were merged before."""
    n_merges = len(children)
    made_by_then = n_rows + np.arange(n_merges)[:, np.newaxis]
    whole = children == np.floor(children)
    if not (whole & (children >= 0) & (children < made_by_then)).all():
        raise ValueError("a merge names a cluster that is not there yet")
    if distinct(children).size != 2 * n_merges:
        raise ValueError("a cluster is merged twice")


def check_cut_tree(model: Any, sizes: Sizes) -> None:
    """Refuse a tree and a cut of it that contradict each other."""
    n_rows, n_clusters = sizes["rows"], sizes["clusters"]
    if sizes["merges"] != n_rows - 1 or sizes["kept"] > n_rows - 1 or n_clusters > n_rows:
        raise ValueError("Z_, children_ and labels_ disagree about the number of rows")
    check_merges(model.Z_[:, :2], n_rows)
    check_merges(model.children_, n_rows)
    if not ((model.Z_[:, 3] >= 2) & (model.Z_[:, 3] <= n_rows)).all():
        raise ValueError("Z_ has clusters of no possible size")
    if model.labels_.max() >= n_clusters:
        raise ValueError("labels_ has more than n_clusters_ labels")


def check_order(order: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> None:
    """Refuse rows by cluster that leave a row out, and clusters without rows."""
    n_rows = order.size
    if not np.array_equal(np.sort(order), np.arange(n_rows)):
        raise ValueError("clusters_ does not have every row once")
    if starts[0] != 0 or (np.diff(starts) <= 0).any() or starts[-1] >= n_rows:
        raise ValueError("clusters_ has a cluster without rows")
