"""What a user calls rows, as a source."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.array import ArraySource
from coterie.data.npy import NpySource
from coterie.data.source import Source


def as_source(
    rows: Any, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
) -> Source:
    """A source of checked rows: an array, a CSR matrix, a memory map, a Dask collection, or a
    source already.
    """
    if isinstance(rows, Source):
        rows.n_threads = n_threads
        return rows if weights is None else rows.weighted(weights)
    if is_dask(rows):
        from coterie.data.dask import DaskSource

        return DaskSource(rows, weights, n_threads)
    if isinstance(rows, np.memmap):
        return NpySource(rows, weights, n_threads)
    return ArraySource(rows, weights, n_threads)


def is_dask(rows: Any) -> bool:
    """Whether rows are a collection of Dask's, told without importing it."""
    return type(rows).__module__.partition(".")[0] in ("dask", "dask_expr")
