"""k-means++ alone: drawing the starting centres, judged by the potential they leave."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs, sse, uneven_rows
from .._harness import Call, Contender, Outcome, Workload

N_ROWS, N_FEATURES, N_CLUSTERS = 500_000, 32, 256


DATA = {  # blobs are as many as centres to draw
    "": ("centres N(0, 4²)", functools.partial(blobs, n_blobs=N_CLUSTERS, spread=4.0)),
    "-weak": ("centres N(0, 0.5²)", functools.partial(blobs, n_blobs=N_CLUSTERS, spread=0.5)),
    "-uneven": ("uneven rows", uneven_rows),
}


def make(kind: str, n_rows: int) -> Arrays:
    """Rows of one kind."""
    return {"X": DATA[kind][1](n_rows, N_FEATURES)}


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


def workload(kind: str, name: str, trials: str, contenders: list[Contender]) -> Workload:
    """One way to draw the centres from one kind of rows."""
    size = f"n={N_ROWS} d={N_FEATURES} k={N_CLUSTERS}"
    title = f"k-means++ {size}, {trials}, {DATA[kind][0]}"
    return Workload(
        f"{name}{kind}", title, N_ROWS, functools.partial(make, kind), contenders, judge,
        judged_by="potential",
    )  # fmt: skip


def workloads(kind: str) -> list[Workload]:
    """Both ways."""
    one = functools.partial(coterie_seeding, 1)
    greedy = functools.partial(coterie_seeding, None)
    return [
        workload(
            kind, "seeding-one-trial", "one trial",
            [peers.coterie(one), peers.faiss(faiss_seeding)],
        ),
        workload(
            kind, "seeding-greedy", "greedy",
            [*peers.coterie_builds(greedy), peers.sklearn(sklearn_seeding)],
        ),
    ]  # fmt: skip


WORKLOADS = [made for kind in DATA for made in workloads(kind)]
