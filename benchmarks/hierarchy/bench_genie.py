"""Genie, from rows to labels, judged by their agreement with the blobs that made the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload

N_CLUSTERS, THRESHOLD = 20, 0.3


def blobs(n_features: int) -> Callable[[int], Arrays]:
    """Twenty blobs whose centres are N(0, 5^2), and which of them a row is of."""

    def make(n_rows: int) -> Arrays:
        rng = np.random.default_rng(0)
        centers = rng.normal(scale=5, size=(N_CLUSTERS, n_features))
        noise = rng.standard_normal((n_rows, n_features))
        labels = rng.integers(N_CLUSTERS, size=n_rows)
        return {"X": centers[labels] + noise, "labels": labels}

    return make


def coterie_genie(arrays: Arrays) -> Call:
    """Ours."""
    from coterie import AgglomerativeClustering

    model = AgglomerativeClustering(N_CLUSTERS, linkage="genie", gini_threshold=THRESHOLD)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def genieclust_genie(arrays: Arrays) -> Call:
    """genieclust's, by whom the method is."""
    import genieclust

    model = genieclust.Genie(N_CLUSTERS, gini_threshold=THRESHOLD)
    return lambda: Outcome(model.fit(arrays["X"]).labels_)


def judge(arrays: Arrays, labels: NDArray[Any]) -> float:
    """Adjusted Rand index: equal where the clusters are."""
    from coterie.evaluate import adjusted_rand_score

    return float(adjusted_rand_score(arrays["labels"], labels))


def workload(name: str, title: str, n_rows: int, n_features: int) -> Workload:
    """Genie of twenty blobs."""
    contenders = [peers.coterie(coterie_genie), peers.genieclust(genieclust_genie)]
    make = blobs(n_features)
    return Workload(name, title, n_rows, make, contenders, judge, judged_by="adjusted Rand")


WORKLOADS = [
    workload("genie-200k", "genie n=200k d=2", 200_000, 2),
    workload("genie-50k", "genie n=50k d=8", 50_000, 8),
]
