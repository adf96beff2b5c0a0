"""Many columns: without full matrices nothing of n_features x n_features is made."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coterie import BayesianGaussianMixture, GaussianMixture, StudentTMixture

X = np.random.default_rng(0).normal(size=(6, 2000))


@pytest.mark.parametrize("covariance_type", ["diag", "spherical"])
@pytest.mark.parametrize("estimator", [BayesianGaussianMixture, GaussianMixture, StudentTMixture])
def test_no_matrix_is_made(estimator: Any, covariance_type: str) -> None:
    model = estimator(2, covariance_type=covariance_type, random_state=0, max_iter=200)
    tracemalloc.start()
    model.fit(X)
    model.predict(X)
    model.sample(3)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * 2000**2 / 4  # a quarter of one matrix


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_nor_by_the_gradient_solvers(solver: str) -> None:
    model = GaussianMixture(2, covariance_type="diag", solver=solver, random_state=0, max_iter=2)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * 2000**2 / 4


def test_missing_values_and_priors_too() -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    model = GaussianMixture(
        2, covariance_type="diag", prior="auto", noise=True, reg_covar="auto", random_state=0
    )
    tracemalloc.start()
    model.fit(holes)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * 2000**2 / 4
