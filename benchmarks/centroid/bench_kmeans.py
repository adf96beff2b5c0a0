"""k-means on a table of the size of iris, with default settings: what a fit costs besides its work.

A call is many fits, each from a seed of its own, and judged is the last of them.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs, sse
from .._harness import Call, Outcome, Workload

N_FITS = 100
N_CLUSTERS = 3


def make(n_rows: int) -> Arrays:
    """Three blobs in four columns that touch, as those of iris do."""
    return {"X": blobs(n_rows, 4, N_CLUSTERS, 2.0).astype(np.float64)}


def fits(package: str, arrays: Arrays) -> Call:
    """Fits of a package with scikit-learn's interface."""
    if package == "coterie":
        from coterie import KMeans
    else:
        from sklearn.cluster import KMeans

    def call() -> Outcome:
        for seed in range(N_FITS):
            kmeans = KMeans(N_CLUSTERS, n_init=1, random_state=seed).fit(arrays["X"])
        return Outcome(kmeans.cluster_centers_)

    return call


def judge(arrays: Arrays, centers: NDArray[Any]) -> float:
    """SSE of the final centres."""
    return sse(arrays["X"], centers)


WORKLOADS = [
    Workload(
        name="kmeans-iris-size",
        title=f"{N_FITS} fits, n=150 d=4 k={N_CLUSTERS} float64",
        n_rows=150,
        make=make,
        contenders=[
            peers.coterie(functools.partial(fits, "coterie")),
            peers.sklearn(functools.partial(fits, "sklearn")),
        ],
        judge=judge,
    )
]
