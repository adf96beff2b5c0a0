"""Farthest-first traversal of a million rows, from the same row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Outcome, Workload

N_COLS = 16
N_CENTERS = 100


def make(blobs: bool, n_rows: int) -> Arrays:
    """Float32 rows about 30 random centres, or about none."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLS), dtype=np.float32)
    if blobs:
        centers = 4 * rng.standard_normal((30, N_COLS), dtype=np.float32)
        X += centers[rng.integers(30, size=n_rows)]
    return {"X": X}


def make_blobs(n_rows: int) -> Arrays:
    """Rows in clusters."""
    return make(True, n_rows)


def make_cloud(n_rows: int) -> Arrays:
    """Rows without clusters."""
    return make(False, n_rows)


def coterie_farthest(arrays: Arrays) -> Call:
    """Ours."""
    from coterie import farthest_first

    def call() -> Outcome:
        return Outcome(farthest_first(arrays["X"], N_CENTERS, start=0, n_threads=N_THREADS).indices)

    return call


def numpy_farthest(arrays: Arrays) -> Call:
    """The textbook's loop: distances to the last centre, the least so far, the largest of these."""
    X = arrays["X"]

    def call() -> Outcome:
        indices = [0]
        nearest = np.full(len(X), np.inf, dtype=np.float32)
        while len(indices) < N_CENTERS:
            apart = X - X[indices[-1]]
            np.minimum(nearest, np.einsum("ij,ij->i", apart, apart), out=nearest)
            indices.append(int(nearest.argmax()))
        return Outcome(np.array(indices))

    return call


def judge(arrays: Arrays, centers: NDArray[np.int64]) -> float:
    """The covering radius."""
    X = arrays["X"].astype(np.float64)
    nearest = np.full(len(X), np.inf)
    for center in centers:
        np.minimum(nearest, np.square(X - X[center]).sum(axis=1), out=nearest)
    return float(np.sqrt(nearest.max()))


WORKLOADS = [
    Workload(
        name,
        f"farthest-first n=1M d={N_COLS}, {what}, k={N_CENTERS}",
        1_000_000,
        make_rows,
        [peers.coterie(coterie_farthest), peers.numpy(numpy_farthest)],
        judge,
        judged_by="radius",
    )
    for name, what, make_rows in (
        ("farthest-blobs", "clusters", make_blobs),
        ("farthest-cloud", "no clusters", make_cloud),
    )
]
