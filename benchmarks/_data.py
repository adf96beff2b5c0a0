"""Make the data the workloads run on, always the same for the same arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
CHUNK_ENTRIES = 4_000_000  # of a (rows, n_clusters) block of float64: 32 MB


def blobs(
    n_rows: int, n_features: int, n_blobs: int, spread: float, seed: int = 0
) -> NDArray[np.float32]:
    """Draw rows around random centres with unit noise.

    Centres are N(0, spread^2 I) and every row picks one of them with equal probability. Two
    centres lie about `spread * sqrt(2 * n_features)` noise deviations apart.

    Returns
    -------
    X
        float32 rows in C order, shape (n_rows, n_features).
    """
    rng = np.random.default_rng(seed)
    centers = spread * rng.standard_normal((n_blobs, n_features), dtype=np.float32)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X += centers[rng.integers(n_blobs, size=n_rows)]
    return X


def random_rows(X: NDArray[np.float32], n_clusters: int, seed: int = 1) -> NDArray[np.float32]:
    """Take `n_clusters` different rows of X, shape (n_clusters, n_features)."""
    return X[np.random.default_rng(seed).choice(len(X), n_clusters, replace=False)]


def sse(X: NDArray[np.float32], centers: NDArray[Any]) -> float:
    """Sum the squared distances from the rows to their nearest centres.

    The one judge of all contenders, in float64: the nearest centre by the expanded form, its
    distance by the direct form. Costs O(n_rows * n_clusters * n_features) time and 32 MB.

    Parameters
    ----------
    X
        Rows, shape (n_rows, n_features).
    centers
        Centres, shape (n_clusters, n_features).
    """
    centers = np.asarray(centers, dtype=np.float64)
    half_sq_norms = np.square(centers).sum(axis=1) / 2
    step = max(1, CHUNK_ENTRIES // max(centers.shape))
    total = 0.0
    for start in range(0, len(X), step):
        rows = X[start : start + step].astype(np.float64)
        nearest = (half_sq_norms - rows @ centers.T).argmin(axis=1)  # |x|^2 is the same for all
        total += float(np.square(rows - centers[nearest]).sum())
    return total
