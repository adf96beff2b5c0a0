"""Scores by rows against scikit-learn's; the score itself stands beside the time."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload

N_COLS = 32
N_CLUSTERS = 20


def make(n_rows: int) -> Arrays:
    """Float32 rows about random centres, and the centre of each as its label."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((N_CLUSTERS, N_COLS), dtype=np.float32)
    labels = rng.integers(N_CLUSTERS, size=n_rows, dtype=np.int32)
    X = rng.standard_normal((n_rows, N_COLS), dtype=np.float32)
    X += centers[labels]
    return {"X": X, "labels": labels}


def coterie_score(name: str, arrays: Arrays) -> Call:
    """Ours."""
    from coterie import evaluate

    score = getattr(evaluate, name)
    return lambda: Outcome(np.array([score(arrays["X"], arrays["labels"])]))


def sklearn_score(name: str, arrays: Arrays) -> Call:
    """scikit-learn's."""
    from sklearn import metrics

    score = getattr(metrics, name)
    return lambda: Outcome(np.array([score(arrays["X"], arrays["labels"])]))


def judge(arrays: Arrays, score: NDArray[Any]) -> float:
    """The score itself, which is the same for both."""
    return float(score[0])


def workload(name: str, score: str, title: str, n_rows: int) -> Workload:
    """One score."""
    contenders = [
        peers.coterie(functools.partial(coterie_score, score)),
        peers.sklearn(functools.partial(sklearn_score, score)),
    ]
    title = f"{title} d={N_COLS} k={N_CLUSTERS} float32"
    return Workload(name, title, n_rows, make, contenders, judge, judged_by="score")


WORKLOADS = [
    workload("silhouette", "silhouette_score", "exact silhouette n=30k", 30_000),
    workload("davies-bouldin", "davies_bouldin_score", "Davies-Bouldin n=2M", 2_000_000),
    workload("calinski-harabasz", "calinski_harabasz_score", "Calinski-Harabasz n=2M", 2_000_000),
]
