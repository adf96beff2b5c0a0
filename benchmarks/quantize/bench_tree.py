"""A vocabulary tree of 32^3 leaves against flat k-means with as many centres: learn, then label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs
from .._harness import N_THREADS, Call, Outcome, Workload

N_ROWS, N_FEATURES, BRANCHING, DEPTH = 1_000_000, 32, 32, 3
FAISS_ITERATIONS = 10


def make(n_rows: int) -> Arrays:
    """Rows around 2,000 places."""
    return {"X": blobs(n_rows, N_FEATURES, 2000, spread=3.0)}


def coterie_tree(arrays: Arrays) -> Call:
    """The tree, by its defaults."""
    from coterie import HierarchicalKMeans

    model = HierarchicalKMeans(BRANCHING, DEPTH, random_state=0, n_threads=N_THREADS)

    def call() -> Outcome:
        labels = model.fit(arrays["X"]).predict(arrays["X"])
        assert len(labels) == len(arrays["X"])
        return Outcome(np.array([model.inertia_]), model.n_iter_)

    return call


def faiss_flat(arrays: Arrays) -> Call:
    """faiss's k-means on all rows; minutes."""
    faiss = peers.import_faiss()
    X = arrays["X"]
    n_centers = min(BRANCHING**DEPTH, len(X) // 4)

    def call() -> Outcome:
        flat = faiss.Kmeans(
            N_FEATURES, n_centers, niter=FAISS_ITERATIONS, seed=0,
            max_points_per_centroid=len(X), min_points_per_centroid=1,
        )  # fmt: skip
        flat.train(X)
        sq_dists, _ = flat.index.search(X, 1)
        return Outcome(np.array([sq_dists.sum(dtype=np.float64)]), FAISS_ITERATIONS)

    return call


def judge(arrays: Arrays, found: NDArray[Any]) -> float:
    """SSE of the labels given; the tree's are not the nearest centres."""
    return float(found[0])


WORKLOADS = [
    Workload(
        "vocabulary-tree",
        f"tree of {BRANCHING}^{DEPTH} leaves n={N_ROWS} d={N_FEATURES} against flat k-means, "
        f"{FAISS_ITERATIONS} iterations",
        N_ROWS,
        make,
        [peers.coterie(coterie_tree), peers.faiss(faiss_flat)],
        judge,
    )
]
