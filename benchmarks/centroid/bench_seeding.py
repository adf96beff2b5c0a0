"""k-means++ alone: drawing the starting centres, judged by the potential they leave."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs, sse
from .._harness import Call, Contender, Outcome, Workload

N_ROWS, N_FEATURES, N_CLUSTERS = 500_000, 32, 256


def make(n_rows: int) -> Arrays:
    """Clustered blobs, as many as centres to draw."""
    return {"X": blobs(n_rows, N_FEATURES, N_CLUSTERS, spread=4.0)}


def coterie_seeding(n_local_trials: int | None, arrays: Arrays) -> Call:
    """coterie, with one trial or with scikit-learn's number of trials (None)."""
    from coterie import kmeans_plusplus

    draw = functools.partial(kmeans_plusplus, n_local_trials=n_local_trials)
    return lambda: Outcome(draw(arrays["X"], N_CLUSTERS, random_state=0)[0])


def sklearn_seeding(arrays: Arrays) -> Call:
    """scikit-learn, greedy: the best of 2 + log(k) trials for every centre."""
    from sklearn.cluster import kmeans_plusplus

    return lambda: Outcome(kmeans_plusplus(arrays["X"], N_CLUSTERS, random_state=0)[0])


def faiss_seeding(arrays: Arrays) -> Call:
    """faiss's k-means++, one trial."""
    faiss = peers.import_faiss()
    X = arrays["X"]
    seeding = faiss.ClusteringInitialization(N_FEATURES, N_CLUSTERS)
    seeding.method = faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS
    seeding.seed = 0

    def call() -> Outcome:
        centers = np.empty((N_CLUSTERS, N_FEATURES), dtype=np.float32)
        seeding.init_centroids(len(X), faiss.swig_ptr(X), faiss.swig_ptr(centers))
        return Outcome(centers)

    return call


def judge(arrays: Arrays, centers: NDArray[Any]) -> float:
    """The potential: SSE of the drawn centres."""
    return sse(arrays["X"], centers)


def workload(name: str, trials: str, contenders: list[Contender]) -> Workload:
    """One way to draw the centres."""
    size = f"n={N_ROWS} d={N_FEATURES} k={N_CLUSTERS}"
    title = f"k-means++ {size}, {trials}, centres N(0, 4²)"
    return Workload(name, title, N_ROWS, make, contenders, judge, judged_by="potential")


WORKLOADS = [
    workload(
        "seeding-one-trial",
        "one trial",
        [peers.coterie(functools.partial(coterie_seeding, 1)), peers.faiss(faiss_seeding)],
    ),
    workload(
        "seeding-greedy",
        "greedy",
        [peers.coterie(functools.partial(coterie_seeding, None)), peers.sklearn(sklearn_seeding)],
    ),
]
