"""k-means from a given start: the same data, centres and iterations for everyone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs, random_rows, sse, uneven_rows
from .._harness import N_THREADS, Call, Contender, Outcome, Workload

TO_CONVERGENCE = 300
CLUSTERED = 4.0  # deviation of the true centres, where the noise has 1
WEAK = 0.5
UNEVEN = None  # no blobs


def make(n_features: int, n_clusters: int, spread: float | None, n_rows: int) -> Arrays:
    """Blobs, as many as clusters, or uneven rows, and random rows of them to start from."""
    if spread is UNEVEN:
        X = uneven_rows(n_rows, n_features)
    else:
        X = blobs(n_rows, n_features, n_clusters, spread)
    return {"X": X, "init": random_rows(X, n_clusters)}


def coterie_kmeans(max_iter: int, arrays: Arrays) -> Call:
    """coterie with its default choice of algorithm."""
    from coterie import KMeans

    return _fit(KMeans, arrays, max_iter=max_iter, tol=0, n_threads=N_THREADS)


def sklearn_kmeans(max_iter: int, arrays: Arrays) -> Call:
    """scikit-learn's Lloyd."""
    from sklearn.cluster import KMeans

    return _fit(KMeans, arrays, max_iter=max_iter, tol=0, algorithm="lloyd")


def sklearnex_kmeans(max_iter: int, arrays: Arrays) -> Call:
    """scikit-learn-intelex's Lloyd."""
    KMeans = peers.import_sklearnex_cluster().KMeans
    return _fit(KMeans, arrays, max_iter=max_iter, tol=0, algorithm="lloyd")


def faiss_kmeans(max_iter: int, arrays: Arrays) -> Call:
    """faiss on all rows; it gives centres only, so it has one pass less to do than the others."""
    faiss = peers.import_faiss()
    X, init = arrays["X"], arrays["init"]
    settings = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
    kmeans = faiss.Kmeans(X.shape[1], len(init), niter=max_iter, **settings)

    def call() -> Outcome:
        kmeans.train(X, init_centroids=init)
        return Outcome(kmeans.centroids, len(kmeans.obj))

    return call


def _fit(estimator: Callable[..., Any], arrays: Arrays, **settings: object) -> Call:
    """The timed call of everything with scikit-learn's interface."""
    X, init = arrays["X"], arrays["init"]
    kmeans = estimator(n_clusters=len(init), init=init, n_init=1, **settings)

    def call() -> Outcome:
        kmeans.fit(X)
        return Outcome(kmeans.cluster_centers_, int(kmeans.n_iter_))

    return call


def judge(arrays: Arrays, centers: NDArray[Any]) -> float:
    """SSE of the final centres."""
    return sse(arrays["X"], centers)


def contenders(max_iter: int) -> list[Contender]:
    """coterie and its peers, all stopped after `max_iter` iterations."""
    return [
        *peers.coterie_builds(functools.partial(coterie_kmeans, max_iter)),
        peers.sklearn(functools.partial(sklearn_kmeans, max_iter)),
        peers.sklearnex(functools.partial(sklearnex_kmeans, max_iter)),
        peers.faiss(functools.partial(faiss_kmeans, max_iter)),
    ]


def workload(
    name: str, n_rows: int, n_features: int, n_clusters: int, max_iter: int, spread: float | None
) -> Workload:
    """One k-means problem."""
    size = f"n={n_rows} d={n_features} k={n_clusters}"
    data = "uneven rows" if spread is UNEVEN else f"centres N(0, {spread:g}²)"
    length = "to convergence" if max_iter == TO_CONVERGENCE else f"at most {max_iter} iterations"
    return Workload(
        name=name,
        title=f"k-means {size}, {length}, {data}",
        n_rows=n_rows,
        make=functools.partial(make, n_features, n_clusters, spread),
        contenders=contenders(max_iter),
        judge=judge,
    )


# In 784 dimensions even WEAK centres are 20 deviations apart and everyone is done after 5
# iterations; a tenth of it makes the groups overlap.
WORKLOADS = [
    workload("lloyd-d8-k64-clustered", 1_000_000, 8, 64, 20, CLUSTERED),
    workload("lloyd-d8-k64-weak", 1_000_000, 8, 64, 20, WEAK),
    workload("lloyd-d8-k64-uneven", 1_000_000, 8, 64, 20, UNEVEN),
    workload("lloyd-d2-k16-clustered", 2_000_000, 2, 16, 30, CLUSTERED),
    workload("lloyd-d2-k16-weak", 2_000_000, 2, 16, 30, WEAK),
    workload("lloyd-d2-k16-uneven", 2_000_000, 2, 16, 30, UNEVEN),
    workload("lloyd-d128-k256-clustered", 200_000, 128, 256, 20, CLUSTERED),
    workload("lloyd-d128-k256-weak", 200_000, 128, 256, 20, WEAK),
    workload("lloyd-d128-k256-uneven", 200_000, 128, 256, 20, UNEVEN),
    workload("lloyd-d32-k2048-clustered", 100_000, 32, 2048, 15, CLUSTERED),
    workload("lloyd-d32-k2048-weak", 100_000, 32, 2048, 15, WEAK),
    workload("lloyd-d32-k2048-uneven", 100_000, 32, 2048, 15, UNEVEN),
    workload("lloyd-d784-k10-clustered", 100_000, 784, 10, 20, CLUSTERED),
    workload("lloyd-d784-k10-weak", 100_000, 784, 10, 20, WEAK / 10),
    workload("lloyd-d784-k10-uneven", 100_000, 784, 10, 20, UNEVEN),
    workload("lloyd-converge-d128-k256-clustered", 200_000, 128, 256, TO_CONVERGENCE, CLUSTERED),
    workload("lloyd-converge-d128-k256-weak", 200_000, 128, 256, TO_CONVERGENCE, WEAK),
    workload("lloyd-converge-d128-k256-uneven", 200_000, 128, 256, TO_CONVERGENCE, UNEVEN),
]
