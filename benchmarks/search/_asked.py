"""Rows and queries that search is measured on, and the judge of what it finds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data import Arrays, blobs
from ..quantize import bench_product

N_COLS, N_QUERIES, K = 128, 1000, 10

#: Where real vectors are, `bigann_base.npy` and `bigann_query.npy`; without it they are left out.
SIFT_FOLDER = os.environ.get("COTERIE_SIFT")


def rows_and_queries(n_rows: int) -> Arrays:
    """Overlapping blobs, and rows of the same kind that ask."""
    X = blobs(n_rows + N_QUERIES, N_COLS, 1000, 1.0)
    return asked(X[:n_rows], X[n_rows:])


def weak_clusters(n_rows: int) -> Arrays:
    """1000 overlapping groups, neighbouring columns tied to each other as those of SIFT are.

    Centres and noise are N(0, I) both, times the matrix exp(-|i - j| / 4).
    """
    X = bench_product.make(n_rows + N_QUERIES, N_COLS)["X"]
    return asked(X[:n_rows], X[n_rows:])


def sift(n_rows: int) -> Arrays:
    """Real SIFT vectors: the first rows of the base set and all queries."""
    folder = Path(SIFT_FOLDER or ".")
    rows, queries = (np.load(folder / f"bigann_{name}.npy") for name in ("base", "query"))
    return asked(rows[:n_rows].astype(np.float32), queries.astype(np.float32))


def asked(X: NDArray[np.float32], queries: NDArray[np.float32]) -> Arrays:
    """Rows, queries and the true K nearest of these; in float64, by blocks."""
    rows, asking = X.astype(np.float64), queries.astype(np.float64)
    half = np.square(rows).sum(axis=1) / 2
    truth = np.empty((len(queries), K), dtype=np.int64)
    for q in range(0, len(queries), 50):
        values = half - asking[q : q + 50] @ rows.T
        truth[q : q + 50] = np.argpartition(values, K, axis=1)[:, :K]
    return {"X": X, "queries": queries, "truth": truth}


def missed(arrays: Arrays, ids: NDArray[Any]) -> float:
    """The share of the true K nearest that is not among the found."""
    n_hit = sum(len(set(a) & set(b)) for a, b in zip(arrays["truth"].tolist(), ids, strict=True))
    return 1 - n_hit / arrays["truth"].size
