"""Adjusted mutual information of many clusters; the score itself stands beside the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload

N_CLUSTERS = 1000


def make(n_rows: int) -> Arrays:
    """Two labellings that agree on half of the rows, and by chance on the others."""
    rng = np.random.default_rng(0)
    true, other = rng.integers(N_CLUSTERS, size=(2, n_rows))
    return {"true": true, "pred": np.where(rng.random(n_rows) < 0.5, true, other)}


def coterie_score(arrays: Arrays) -> Call:
    """Ours."""
    from coterie.evaluate import adjusted_mutual_info_score

    return lambda: Outcome(np.array([adjusted_mutual_info_score(arrays["true"], arrays["pred"])]))


def sklearn_score(arrays: Arrays) -> Call:
    """scikit-learn's."""
    from sklearn.metrics import adjusted_mutual_info_score

    return lambda: Outcome(np.array([adjusted_mutual_info_score(arrays["true"], arrays["pred"])]))


def judge(arrays: Arrays, score: NDArray[Any]) -> float:
    """The score itself, which is the same for both."""
    return float(score[0])


WORKLOADS = [
    Workload(
        "adjusted-mutual-information",
        f"adjusted mutual information n=1M, {N_CLUSTERS} x {N_CLUSTERS} clusters",
        1_000_000,
        make,
        [peers.coterie(coterie_score), peers.sklearn(sklearn_score)],
        judge,
        judged_by="score",
    )
]
