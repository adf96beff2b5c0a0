"""DBSCAN in two, three, ten and sixty-four dimensions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, uneven_rows
from .._harness import N_THREADS, Call, Contender, Outcome, Workload

MIN_SAMPLES = 10


def make(n_features: int, n_blobs: int, half_width: float, noise: float, n_rows: int) -> Arrays:
    """Unit blobs at random centres in a box, and uniform noise in it; float64 rows, shuffled."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-half_width, half_width, size=(n_blobs, n_features))
    X = centers[rng.integers(n_blobs, size=n_rows)] + rng.standard_normal((n_rows, n_features))
    is_noise = rng.random(n_rows) < noise
    X[is_noise] = rng.uniform(-half_width, half_width, size=(int(is_noise.sum()), n_features))
    return {"X": X}


def make_uneven(n_features: int, n_rows: int) -> Arrays:
    """Rows shaped like measured ones, in float64."""
    return {"X": uneven_rows(n_rows, n_features).astype(np.float64)}


def coterie_dbscan(eps: float, arrays: Arrays) -> Call:
    """Ours."""
    from coterie import DBSCAN

    model = DBSCAN(eps, min_samples=MIN_SAMPLES, n_threads=N_THREADS)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def sklearn_dbscan(eps: float, arrays: Arrays) -> Call:
    """scikit-learn's."""
    from sklearn.cluster import DBSCAN

    model = DBSCAN(eps=eps, min_samples=MIN_SAMPLES, n_jobs=N_THREADS)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def sklearnex_dbscan(eps: float, arrays: Arrays) -> Call:
    """scikit-learn-intelex's."""
    model = peers.import_sklearnex_cluster().DBSCAN(
        eps=eps, min_samples=MIN_SAMPLES, algorithm="brute"
    )
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def dbscan_dbscan(eps: float, arrays: Arrays) -> Call:
    """The dbscan package's, on as many threads as PARLAY_NUM_THREADS says."""
    from dbscan import DBSCAN

    return lambda: Outcome(DBSCAN(arrays["X"], eps, MIN_SAMPLES)[0])


def judge(eps: float, arrays: Arrays, labels: NDArray[Any]) -> float:
    """The share of rows that are noise: the same for all that are exact."""
    return float(np.mean(np.asarray(labels) < 0))


def workload(
    name: str, title: str, n_rows: int, make_rows: Callable[[int], Arrays], eps: float,
    peer_names: str,
) -> Workload:  # fmt: skip
    """One size of one kind of rows."""
    contenders: dict[str, Contender] = {
        "sklearn": peers.sklearn(functools.partial(sklearn_dbscan, eps)),
        "sklearnex": peers.sklearnex(functools.partial(sklearnex_dbscan, eps)),
        "dbscan": peers.dbscan(functools.partial(dbscan_dbscan, eps)),
    }
    return Workload(
        name,
        f"DBSCAN {title}, eps={eps:g} min_samples={MIN_SAMPLES}",
        n_rows,
        make_rows,
        [
            *peers.coterie_builds(functools.partial(coterie_dbscan, eps)),
            *(contenders[peer] for peer in peer_names.split()),
        ],
        functools.partial(judge, eps),
        judged_by="noise",
    )


# Where blobs are weak or rows uneven, eps is what a half to nine tenths of the rows reach ten with.
WORKLOADS = [
    workload(name, title, n_rows, functools.partial(make_rows, *arguments), eps, peer_names)
    for name, title, n_rows, make_rows, arguments, eps, peer_names in (
        ("dbscan-2d", "n=1M d=2, 50 blobs, 10% noise", 1_000_000, make, (2, 50, 50.0, 0.1), 0.15,
         "dbscan sklearn"),
        ("dbscan-3d", "n=500k d=3, 50 blobs, 10% noise", 500_000, make, (3, 50, 30.0, 0.1), 0.5,
         "dbscan sklearn"),
        ("dbscan-3d-weak", "n=500k d=3, 50 blobs on each other, 10% noise", 500_000,
         make, (3, 50, 8.0, 0.1), 0.3, "dbscan sklearn"),
        ("dbscan-3d-uneven", "n=500k d=3, uneven rows", 500_000, make_uneven, (3,), 0.04,
         "dbscan sklearn"),
        ("dbscan-10d", "n=100k d=10, 20 blobs, 5% noise", 100_000, make, (10, 20, 10.0, 0.05), 2.5,
         "sklearnex sklearn"),
        ("dbscan-64d", "n=30k d=64, 20 blobs, 5% noise", 30_000, make, (64, 20, 10.0, 0.05), 10.5,
         "sklearnex sklearn"),
        ("dbscan-64d-weak", "n=30k d=64, 20 blobs on each other, 5% noise", 30_000,
         make, (64, 20, 1.0, 0.05), 9.1, "sklearnex sklearn"),
        ("dbscan-64d-uneven", "n=30k d=64, uneven rows", 30_000, make_uneven, (64,), 3.5,
         "sklearnex sklearn"),
    )
]  # fmt: skip
