"""k-medoids from given distances, from rows, and from more rows than have a matrix."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Contender, Outcome, Workload

N_COLS = 16
N_BLOBS = 30


def make(n_clusters: int, n_rows: int) -> Arrays:
    """Float32 rows about random centres, and rows to start from."""
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((N_BLOBS, N_COLS))
    X = centers[rng.integers(N_BLOBS, size=n_rows)] + rng.standard_normal((n_rows, N_COLS))
    start = rng.choice(n_rows, n_clusters, replace=False)
    return {"X": X.astype(np.float32), "start": start.astype(np.int64)}


def make_given(n_clusters: int, n_rows: int) -> Arrays:
    """The same with their Euclidean distances in float32, made before the clock starts."""
    from sklearn.metrics import pairwise_distances

    arrays = make(n_clusters, n_rows)
    return {**arrays, "D": pairwise_distances(arrays["X"]).astype(np.float32)}


def coterie_kmedoids(method: str, arrays: Arrays) -> Call:
    """Ours, from the given start; from distances where there are any."""
    from coterie import KMedoids

    given = "D" in arrays
    model = KMedoids(
        arrays["start"].size,
        metric="precomputed" if given else "euclidean",
        method=method,
        init=arrays["start"],
        random_state=0,
        n_threads=N_THREADS,
    )

    def call() -> Outcome:
        model.fit(arrays["D"] if given else arrays["X"])
        return Outcome(model.medoid_indices_, model.n_iter_)

    return call


def kmedoids_fasterpam(n_cpu: int, arrays: Arrays) -> Call:
    """The kmedoids package's, which has to be given distances: scikit-learn's, from rows.

    On one thread it visits the rows in their order, on more in a random one.
    """
    import kmedoids
    from sklearn.metrics import pairwise_distances

    start = arrays["start"].astype(np.uint64)

    def call() -> Outcome:
        D = arrays["D"] if "D" in arrays else pairwise_distances(arrays["X"], n_jobs=N_THREADS)
        found = kmedoids.fasterpam(D, start, n_cpu=n_cpu)
        return Outcome(np.asarray(found.medoids).astype(np.int64), int(found.n_iter))

    return call


def judge(arrays: Arrays, medoids: NDArray[Any]) -> float:
    """The total deviation, in float64."""
    X = arrays["X"].astype(np.float64)
    total = 0.0
    for first in range(0, len(X), 20_000):
        rows = X[first : first + 20_000]
        nearest = np.full(len(rows), np.inf)
        for medoid in medoids:
            np.minimum(nearest, np.square(rows - X[medoid]).sum(axis=1), out=nearest)
        total += float(np.sqrt(nearest).sum())
    return total


def workload(
    name: str,
    title: str,
    n_rows: int,
    n_clusters: int,
    *,
    given: bool = False,
    method: str = "fasterpam",
    with_peer: bool = True,
) -> Workload:
    """One size."""
    contenders: list[Contender] = [peers.coterie(functools.partial(coterie_kmedoids, method))]
    if with_peer:
        for n_cpu, peer in ((1, "kmedoids, 1 thread"), (N_THREADS, "kmedoids")):
            prepare = functools.partial(kmedoids_fasterpam, n_cpu)
            contenders.append(peers.kmedoids(prepare, peer))
    return Workload(
        name,
        f"k-medoids {title}, k={n_clusters}",
        n_rows,
        functools.partial(make_given if given else make, n_clusters),
        contenders,
        judge,
        judged_by="TD",
    )


WORKLOADS = [
    workload("medoids-given", "n=10k, float32 distances given", 10_000, 50, given=True),
    workload("medoids-rows", f"n=20k d={N_COLS}, from rows", 20_000, 50),
    workload("medoids-50k", f"n=50k d={N_COLS}, from rows", 50_000, 20, with_peer=False),
    workload(
        "medoids-onebatch",
        f"n=1M d={N_COLS}, onebatch",
        1_000_000,
        50,
        method="onebatch",
        with_peer=False,
    ),
]
