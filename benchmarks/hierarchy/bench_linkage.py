"""Merge tables of agglomerative clustering, judged by the sum of their heights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Contender, Outcome, Prepare, Workload


def blobs(n_features: int) -> Callable[[int], Arrays]:
    """Twenty blobs whose centres are N(0, 5^2)."""

    def make(n_rows: int) -> Arrays:
        rng = np.random.default_rng(0)
        centers = rng.normal(scale=5, size=(20, n_features))
        noise = rng.standard_normal((n_rows, n_features))
        return {"X": centers[rng.integers(20, size=n_rows)] + noise}

    return make


def coterie_linkage(method: str) -> Prepare:
    """Ours."""

    def prepare(arrays: Arrays) -> Call:
        from coterie import linkage

        return lambda: Outcome(linkage(arrays["X"], method)[:, 2])

    return prepare


def scipy_linkage(method: str) -> Prepare:
    """SciPy's, which makes a condensed matrix first."""

    def prepare(arrays: Arrays) -> Call:
        from scipy.cluster import hierarchy

        return lambda: Outcome(hierarchy.linkage(arrays["X"], method)[:, 2])

    return prepare


def fastcluster_linkage(method: str) -> Prepare:
    """fastcluster's, which makes a condensed matrix first."""

    def prepare(arrays: Arrays) -> Call:
        import fastcluster

        return lambda: Outcome(fastcluster.linkage(arrays["X"], method)[:, 2])

    return prepare


def fastcluster_vector(method: str) -> Prepare:
    """fastcluster's without a matrix."""

    def prepare(arrays: Arrays) -> Call:
        import fastcluster

        return lambda: Outcome(fastcluster.linkage_vector(arrays["X"], method)[:, 2])

    return prepare


def sklearn_tree(method: str) -> Prepare:
    """scikit-learn's estimator, with heights."""

    def prepare(arrays: Arrays) -> Call:
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(linkage=method, compute_distances=True)
        return lambda: Outcome(model.fit(arrays["X"]).distances_)

    return prepare


def genieclust_single(arrays: Arrays) -> Call:
    """genieclust's Genie with threshold 1, which is single linkage."""
    import genieclust

    model = genieclust.Genie(2, gini_threshold=1.0)
    return lambda: Outcome(model.fit(arrays["X"]).distances_)


def judge(arrays: Arrays, heights: NDArray[Any]) -> float:
    """Sum of the heights: equal where the merges are."""
    return float(np.sum(heights))


def workload(
    name: str, title: str, n_rows: int, n_features: int, contenders: list[Contender]
) -> Workload:
    """One linkage on blobs."""
    make = blobs(n_features)
    return Workload(name, title, n_rows, make, contenders, judge, judged_by="sum of heights")


def by_matrix(method: str) -> list[Contender]:
    """Everyone who does it on a matrix, and we."""
    return [
        peers.coterie(coterie_linkage(method)),
        peers.fastcluster(fastcluster_linkage(method)),
        peers.scipy(scipy_linkage(method)),
        peers.sklearn(sklearn_tree(method)),
    ]


def by_vector(method: str) -> Contender:
    """fastcluster without a matrix."""
    return peers.fastcluster(fastcluster_vector(method), "fastcluster-vector")


WORKLOADS = [
    workload("ward-20k", "ward n=20k d=16", 20_000, 16, [*by_matrix("ward"), by_vector("ward")]),
    workload("average-20k", "average n=20k d=16", 20_000, 16, by_matrix("average")),
    workload("complete-20k", "complete n=20k d=16", 20_000, 16, by_matrix("complete")),
    workload(
        "single-50k",
        "single n=50k d=8",
        50_000,
        8,
        [
            peers.coterie(coterie_linkage("single")),
            peers.genieclust(genieclust_single),
            by_vector("single"),
        ],
    ),
    workload(
        "ward-100k",
        "ward n=100k d=8",
        100_000,
        8,
        [peers.coterie(coterie_linkage("ward")), by_vector("ward")],
    ),
]
