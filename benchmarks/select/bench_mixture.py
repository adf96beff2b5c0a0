"""The search for a Gaussian mixture: components and covariance types, against GridSearchCV.

scikit-learn's way is that of its own documentation: a grid of models, each scored by BIC in five
folds. Ours fits every model once, on all rows, from several starts. Judged is the BIC, on all rows,
of the model that was chosen.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays, blobs
from .._harness import Call, Outcome, Workload

MOST_COMPONENTS = 9
COVARIANCE_TYPES = ["full", "tied", "diag", "spherical"]


def make(n_features: int, spread: float, n_rows: int) -> Arrays:
    """Five blobs."""
    return {"X": blobs(n_rows, n_features, 5, spread)}


def coterie_search(arrays: Arrays) -> Call:
    """Every model once."""
    from coterie.select import select_mixture

    def call() -> Outcome:
        found = select_mixture(arrays["X"], MOST_COMPONENTS, tol=1e-3, random_state=0)
        return Outcome(np.array([found.model.bic(arrays["X"])]))

    return call


def sklearn_search(arrays: Arrays) -> Call:
    """Every model in five folds, and the best once more."""
    from sklearn.mixture import GaussianMixture
    from sklearn.model_selection import GridSearchCV

    grid = {
        "n_components": range(1, MOST_COMPONENTS + 1),
        "covariance_type": COVARIANCE_TYPES,
    }
    search = GridSearchCV(
        GaussianMixture(random_state=0), grid, scoring=lambda model, X: -model.bic(X)
    )

    def call() -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some do not converge
            search.fit(arrays["X"])
        return Outcome(np.array([search.best_estimator_.bic(arrays["X"])]))

    return call


def judge(arrays: Arrays, bic: NDArray[Any]) -> float:
    """BIC of the model that was chosen."""
    return float(bic[0])


def workload(name: str, kind: str, n_rows: int, n_features: int, spread: float) -> Workload:
    """One search."""
    return Workload(
        name=name,
        title=f"search of 36 Gaussian mixtures, {kind} blobs n={n_rows} d={n_features}",
        n_rows=n_rows,
        make=functools.partial(make, n_features, spread),
        contenders=[peers.coterie(coterie_search), peers.sklearn(sklearn_search)],
        judge=judge,
        judged_by="BIC",
    )


WORKLOADS = [
    workload("select-mixture-small", "touching", 500, 2, 3.0),
    workload("select-mixture", "overlapping", 5_000, 4, 1.5),
    workload("select-mixture-apart", "distant", 5_000, 4, 3.0),
]
