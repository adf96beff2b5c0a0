"""HDBSCAN in two and in ten dimensions, judged by the share of rows in clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Outcome, Workload

MIN_CLUSTER_SIZE = 10


def blobs(n_features: int, noise: float) -> Callable[[int], Arrays]:
    """Twenty blobs whose centres are N(0, 5^2), and a share of the rows spread evenly."""

    def make(n_rows: int) -> Arrays:
        rng = np.random.default_rng(0)
        centers = rng.normal(scale=5, size=(20, n_features))
        X = centers[rng.integers(20, size=n_rows)] + rng.standard_normal((n_rows, n_features))
        is_noise = rng.random(n_rows) < noise
        X[is_noise] = rng.uniform(-15, 15, size=(int(is_noise.sum()), n_features))
        return {"X": X}

    return make


def coterie_hdbscan(arrays: Arrays) -> Call:
    """Ours."""
    from coterie import HDBSCAN

    model = HDBSCAN(MIN_CLUSTER_SIZE, n_threads=N_THREADS)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def fast_hdbscan(arrays: Arrays) -> Call:
    """fast_hdbscan; the harness has let numba compile it on other rows."""
    import fast_hdbscan

    model = fast_hdbscan.HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def hdbscan(arrays: Arrays) -> Call:
    """The hdbscan package."""
    import hdbscan

    model = hdbscan.HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE, core_dist_n_jobs=N_THREADS)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def sklearn_hdbscan(arrays: Arrays) -> Call:
    """scikit-learn's, which compares all pairs."""
    from sklearn.cluster import HDBSCAN

    model = HDBSCAN(MIN_CLUSTER_SIZE, n_jobs=N_THREADS, copy=False)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def judge(arrays: Arrays, labels: NDArray[Any]) -> float:
    """The share of rows that are noise: about the same for all, as ties are broken differently."""
    return float(np.mean(np.asarray(labels) < 0))


def workload(
    name: str, title: str, n_rows: int, make: Callable[[int], Arrays], *, all_pairs: bool = False
) -> Workload:
    """One size; scikit-learn only where all pairs are not too many."""
    contenders = [
        peers.coterie(coterie_hdbscan),
        peers.fast_hdbscan(fast_hdbscan),
        peers.hdbscan(hdbscan),
    ]
    if all_pairs:
        contenders.append(peers.sklearn(sklearn_hdbscan))
    title = f"HDBSCAN {title}, min_cluster_size={MIN_CLUSTER_SIZE}"
    return Workload(name, title, n_rows, make, contenders, judge, judged_by="noise")


WORKLOADS = [
    workload("hdbscan-d2", "n=200k d=2 blobs + noise", 200_000, blobs(2, 0.1)),
    workload("hdbscan-d10", "n=50k d=10 blobs", 50_000, blobs(10, 0.0)),
    workload("hdbscan-d10-small", "n=10k d=10 blobs", 10_000, blobs(10, 0.0), all_pairs=True),
]
