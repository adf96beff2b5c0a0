"""Mini-batch k-means with its usual stopping rule, judged by the SSE on all rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs, sse
from .._harness import N_THREADS, Call, Outcome, Workload

N_ROWS, N_FEATURES, N_CLUSTERS = 2_000_000, 32, 100


def make(n_rows: int) -> Arrays:
    """Clustered blobs, as many as clusters."""
    return {"X": blobs(n_rows, N_FEATURES, N_CLUSTERS, spread=4.0)}


def coterie_minibatch(batch_size: int, arrays: Arrays) -> Call:
    """coterie's MiniBatchKMeans."""
    from coterie import MiniBatchKMeans

    return _fit(MiniBatchKMeans, arrays, batch_size=batch_size, n_threads=N_THREADS)


def sklearn_minibatch(batch_size: int, arrays: Arrays) -> Call:
    """scikit-learn's MiniBatchKMeans."""
    from sklearn.cluster import MiniBatchKMeans

    return _fit(MiniBatchKMeans, arrays, batch_size=batch_size)


def _fit(estimator: Callable[..., Any], arrays: Arrays, **settings: int) -> Call:
    """The timed call."""
    kmeans = estimator(n_clusters=N_CLUSTERS, n_init=1, random_state=0, **settings)

    def call() -> Outcome:
        kmeans.fit(arrays["X"])
        return Outcome(kmeans.cluster_centers_, int(kmeans.n_steps_))

    return call


def judge(arrays: Arrays, centers: NDArray[Any]) -> float:
    """SSE of the final centres on all rows."""
    return sse(arrays["X"], centers)


def workload(batch_size: int) -> Workload:
    """One batch size; iterations are batches."""
    size = f"n={N_ROWS} d={N_FEATURES} k={N_CLUSTERS}"
    return Workload(
        name=f"minibatch-{batch_size}",
        title=f"mini-batch k-means {size}, batch {batch_size}, centres N(0, 4²)",
        n_rows=N_ROWS,
        make=make,
        contenders=[
            peers.coterie(functools.partial(coterie_minibatch, batch_size)),
            peers.sklearn(functools.partial(sklearn_minibatch, batch_size)),
        ],
        judge=judge,
    )


WORKLOADS = [workload(1024), workload(16384)]
