"""The Euclidean minimum spanning tree, judged by its total length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload


def scattered(n_features: int) -> Callable[[int], Arrays]:
    """Rows of the standard normal distribution."""
    rng = np.random.default_rng(0)
    return lambda n_rows: {"X": rng.standard_normal((n_rows, n_features))}


def clustered(n_features: int) -> Callable[[int], Arrays]:
    """Twenty blobs whose centres are N(0, 5^2)."""

    def make(n_rows: int) -> Arrays:
        rng = np.random.default_rng(0)
        centers = rng.normal(scale=5, size=(20, n_features))
        noise = rng.standard_normal((n_rows, n_features))
        return {"X": centers[rng.integers(20, size=n_rows)] + noise}

    return make


def uniform(n_features: int) -> Callable[[int], Arrays]:
    """Rows spread evenly over the unit cube."""
    rng = np.random.default_rng(0)
    return lambda n_rows: {"X": rng.random((n_rows, n_features))}


def coterie_tree(arrays: Arrays) -> Call:
    """Ours."""
    from coterie import spanning_tree

    return lambda: Outcome(spanning_tree(arrays["X"]).lengths)


def quitefastmst_tree(arrays: Arrays) -> Call:
    """quitefastmst, also by Boruvka over a kd-tree."""
    import quitefastmst

    return lambda: Outcome(quitefastmst.mst_euclid(arrays["X"])[0])


def judge(arrays: Arrays, lengths: NDArray[Any]) -> float:
    """Total length of the tree."""
    return float(np.sum(lengths))


def workload(name: str, title: str, n_rows: int, make: Callable[[int], Arrays]) -> Workload:
    """One kind of rows."""
    contenders = [peers.coterie(coterie_tree), peers.quitefastmst(quitefastmst_tree)]
    title = f"spanning tree {title}"
    return Workload(name, title, n_rows, make, contenders, judge, judged_by="total length")


WORKLOADS = [
    workload("tree-d8-normal", "n=50k d=8 normal", 50_000, scattered(8)),
    workload("tree-d8-blobs", "n=50k d=8 blobs", 50_000, clustered(8)),
    workload("tree-d2-uniform", "n=1M d=2 uniform", 1_000_000, uniform(2)),
    workload("tree-d2-blobs", "n=1M d=2 blobs", 1_000_000, clustered(2)),
]
