"""Whether the merges of a model file form a tree: such a file may be damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def check_merges(children: npt.NDArray[Any], n_rows: int) -> None:
    """Refuse merges of clusters that are not there yet, or were merged before."""
    n_merges = len(children)
    made_by_then = n_rows + np.arange(n_merges)[:, np.newaxis]
    whole = children == np.floor(children)
    if not (whole & (children >= 0) & (children < made_by_then)).all():
        raise ValueError("a merge names a cluster that is not there yet")
    if np.unique(children).size != 2 * n_merges:
        raise ValueError("a cluster is merged twice")


def check_order(order: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> None:
    """Refuse rows by cluster that leave a row out, and clusters without rows."""
    n_rows = order.size
    if not np.array_equal(np.sort(order), np.arange(n_rows)):
        raise ValueError("clusters_ does not have every row once")
    if starts[0] != 0 or (np.diff(starts) <= 0).any() or starts[-1] >= n_rows:
        raise ValueError("clusters_ has a cluster without rows")
