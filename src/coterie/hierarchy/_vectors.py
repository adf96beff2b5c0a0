"""Ward, centroid and median linkage straight from rows, in O(n d) memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.hierarchy._memory import check_vectors
from coterie.neighbors import knn
from coterie.neighbors.kdtree import FEWEST_ROWS

Floats = npt.NDArray[np.float64]

#: In more columns than this a scan of all rows in float32 beats a tree on scattered rows.
_MOST_COLUMNS = 8


def link_vectors(
    rows: npt.NDArray[Any],
    method: str,
    *,
    sizes: Floats | None = None,
    n_threads: int,
    who: str = "linkage",
) -> Floats:
    """The merge table of rows under Euclidean distance.

    Ward's variance-minimising rule joins, in rounds, all pairs of clusters that are nearest to
    each other (Bruynooghe 1978; Murtagh 1983); the merges sorted by height are those of the
    greedy algorithm. Centroid and median linkage can have inversions, so they join one closest pair
    after the other (Anderberg 1973). O(n^2 d) time.

    Parameters
    ----------
    rows
        Finite numbers, shape (n_rows, n_features).
    method
        `"ward"`, `"centroid"` or `"median"`.
    sizes
        How many rows each stands for; one by default.
    """
    n_rows, n_cols = rows.shape
    check_vectors(who, method, n_rows, n_cols)
    shift, scale = _frame(rows)
    table = np.empty((n_rows - 1, 4))
    first = _nearest_rows(rows, n_threads) if method == "ward" and sizes is None else None
    kernels.link_vectors(method, rows, sizes, shift, scale, first, table, n_threads)
    return table


def _nearest_rows(rows: npt.NDArray[Any], n_threads: int) -> npt.NDArray[np.int64] | None:
    """The nearest other row of each, where a tree finds them quickly."""
    n_rows, n_cols = rows.shape
    if n_cols > _MOST_COLUMNS or n_rows < FEWEST_ROWS:
        return None
    ids = knn(rows, 2, n_threads=n_threads).ids
    return np.where(ids[:, 0] == np.arange(n_rows), ids[:, 1], ids[:, 0])


def _frame(rows: npt.NDArray[Any]) -> tuple[Floats, float]:
    """A shift and a power of two after which all coordinates lie within about one of zero.

    The shift is a value of each column, near the middle of its range: differences from it are
    exact for whole numbers, and ties stay ties.
    """
    n_cols = rows.shape[1]
    shift, reach = np.empty(n_cols), 0.0
    for t in range(n_cols):
        column = rows[:, t].astype(np.float64) / 2  # halves do not overflow
        low, high = column.min(), column.max()
        shift[t] = 2 * column[np.abs(column - (low / 2 + high / 2)).argmin()]
        reach = max(reach, float(high - low))
    if reach == 0:
        return shift, 1.0
    return shift, 2.0 ** -max(-1000, min(1000, math.frexp(reach)[1] + 1))
