"""Any linkage on one triangle of distances, in the precision of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import distance
from coterie._doors import check_distances, check_square, check_symmetric, numbers_of
from coterie._kernels import kernels
from coterie.hierarchy._memory import check_triangle

Floats = npt.NDArray[np.float64]

#: Rules about squared distances, which could overflow.
_SQUARED = ("ward", "centroid", "median")


def link_triangle(lengths: npt.NDArray[Any], method: str, n_rows: int, *, n_threads: int) -> Floats:
    """The merge table from the condensed distances of all pairs, which are used up.

    Lance and Williams' (1967) update rules; see `hierarchy/linkage_triangle.hpp` among the kernels
    for the order in which clusters are joined. O(n^2) time and no memory of that order.
    """
    scale = 1.0
    if method in _SQUARED and lengths.size:
        largest = float(lengths.max())
        scale = 2.0 ** -max(-100, min(1000, math.frexp(largest)[1])) if largest > 0 else 1.0
        if lengths.dtype == np.float32:
            scale = min(max(scale, 2.0**-120), 2.0**120)
    table = np.empty((n_rows - 1, 4))
    kernels.link_triangle(method, lengths, scale, table, n_threads)
    return table


def triangle_of(
    metric: distance.Metric,
    rows: npt.NDArray[Any],
    method: str,
    *,
    n_threads: int,
    who: str = "linkage",
) -> npt.NDArray[Any]:
    """Condensed distances of prepared rows, in their own precision."""
    n_rows = rows.shape[0]
    check_triangle(who, method, n_rows, rows.dtype.itemsize, copied=True)
    lengths = np.empty(n_rows * (n_rows - 1) // 2, dtype=rows.dtype)
    if metric.native is not None:
        kernels.fill_triangle(rows, metric.native, lengths, n_threads)
    else:
        at = 0
        for i in range(n_rows - 1):
            lengths[at : at + n_rows - 1 - i] = metric.lengths(rows[i : i + 1], rows[i + 1 :])[0]
            at += n_rows - 1 - i
    metric.check_lengths(lengths, who)
    return lengths


def given_triangle(
    X: Any, method: str, *, overwrite: bool, who: str = "linkage"
) -> tuple[npt.NDArray[Any], int]:
    """Condensed distances to be used up, and the number of rows, from such or from a square."""
    given = numbers_of(who, X)
    dtype = np.float32 if given.dtype == np.float32 else np.float64
    n_rows = _n_rows(given, who)
    usable = overwrite and given.ndim == 1 and given.dtype == dtype
    usable = usable and given.flags.c_contiguous and given.flags.writeable
    check_triangle(who, method, n_rows, np.dtype(dtype).itemsize, copied=not usable)
    if given.ndim == 1:
        lengths = given if usable else np.array(given, dtype=dtype, order="C")
    else:
        lengths = np.empty(n_rows * (n_rows - 1) // 2, dtype=dtype)
        at = 0
        for i in range(n_rows - 1):
            lengths[at : at + n_rows - 1 - i] = given[i, i + 1 :]
            at += n_rows - 1 - i
    check_distances(who, lengths)
    if given.ndim == 2:
        check_symmetric(given, who)
    return lengths, n_rows


def _n_rows(given: npt.NDArray[Any], who: str) -> int:
    """How many rows these distances are about."""
    if given.ndim == 1:
        n_rows = (1 + math.isqrt(1 + 8 * given.shape[0])) // 2
        if given.shape[0] == 0 or n_rows * (n_rows - 1) // 2 != given.shape[0]:
            raise ValueError(
                f"{who}: X has {given.shape[0]} entries and condensed distances of n rows have "
                "n (n - 1) / 2; pass those, or rows as a table."
            )
        return n_rows
    check_square(who, given.shape)
    return int(given.shape[0])
