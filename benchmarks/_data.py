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


def uneven_rows(n_rows: int, n_features: int, seed: int = 0) -> NDArray[np.float32]:
    """Draw rows that are shaped like measured ones: gradients of pictures, counts, sales.

    A dozen hidden traits (as many as columns where those are fewer) with long tails, in 50 heaps
    of sizes 1, 1/2, 1/3, ... that overlap, move all columns together; columns differ in spread
    by 1 / sqrt(j), have noise of their own, and what falls below zero is zero.

    Returns
    -------
    X
        float32 rows in C order, not negative, shape (n_rows, n_features).
    """
    rng = np.random.default_rng(seed)
    n_traits, n_heaps = min(12, n_features), 50
    sizes = 1 / np.arange(1.0, n_heaps + 1)
    heap = rng.choice(n_heaps, size=n_rows, p=sizes / sizes.sum())
    traits = 1.5 * rng.standard_normal((n_heaps, n_traits))[heap]
    traits += rng.lognormal(-0.5, 0.5, n_heaps)[heap, None] * rng.standard_t(5, traits.shape)
    spreads = (np.arange(1.0, n_features + 1) ** -0.5).astype(np.float32)
    loads = spreads * rng.standard_normal((n_traits, n_features), dtype=np.float32)
    X = 0.3 * spreads * rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X += traits.astype(np.float32) @ loads + spreads
    return np.maximum(X, 0, out=X)


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
