"""Rows and queries that search is measured on, and the judge of what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data import Arrays, blobs

N_COLS, N_QUERIES, K = 128, 1000, 10


def rows_and_queries(n_rows: int) -> Arrays:
    """Overlapping blobs, and rows of the same kind that ask."""
    X = blobs(n_rows + N_QUERIES, N_COLS, 1000, 1.0)
    return {"X": X[:n_rows], "queries": X[n_rows:]}


def missed(arrays: Arrays, ids: NDArray[Any]) -> float:
    """The share of the true K nearest that is not among the found; in float64, by blocks."""
    X, queries = arrays["X"].astype(np.float64), arrays["queries"].astype(np.float64)
    half = np.square(X).sum(axis=1) / 2
    n_hit = 0
    for q in range(0, len(queries), 50):
        values = half - queries[q : q + 50] @ X.T
        nearest = np.argpartition(values, K, axis=1)[:, :K]
        n_hit += sum(
            len(set(a) & set(b)) for a, b in zip(nearest.tolist(), ids[q : q + 50], strict=True)
        )
    return 1 - n_hit / (K * len(queries))
