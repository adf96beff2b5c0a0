"""GaussianMixture from the same start as scikit-learn's: the same numbers at every iteration."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from coterie import GaussianMixture

IRIS = load_iris().data
SHAPES = ["full", "tied", "diag", "spherical"]
PUBLISHED = ["weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"]


def start(covariance_type: str, X: Any, n_components: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    d = X.shape[1]
    precisions = {
        "full": np.stack([np.eye(d) * (j + 1) for j in range(n_components)]),
        "tied": np.eye(d) * 2.0,
        "diag": rng.uniform(0.5, 2, (n_components, d)),
        "spherical": rng.uniform(0.5, 2, n_components),
    }
    return {
        "n_components": n_components,
        "covariance_type": covariance_type,
        "weights_init": rng.dirichlet(np.ones(n_components)),
        "means_init": X[rng.choice(len(X), n_components, replace=False)],
        "precisions_init": precisions[covariance_type],
    }


def fitted(estimator: Any, X: Any, **params: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator(**params).fit(X)


@pytest.mark.parametrize("covariance_type", SHAPES)
@pytest.mark.parametrize("reg_covar", [0, 1e-6, 0.1])
@pytest.mark.parametrize("max_iter", [1, 3, 30])
def test_the_same_parameters_after_any_number_of_iterations(
    covariance_type: str, reg_covar: float, max_iter: int
) -> None:
    params = {
        **start(covariance_type, IRIS), "tol": 0, "reg_covar": reg_covar, "max_iter": max_iter,
    }  # fmt: skip
    ours, theirs = fitted(GaussianMixture, IRIS, **params), fitted(Theirs, IRIS, **params)
    np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-10)
    for name in PUBLISHED:
        mine, other = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-10 * np.abs(other).max())
    np.testing.assert_array_equal(ours.predict(IRIS), theirs.predict(IRIS))
    np.testing.assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(IRIS), theirs.score_samples(IRIS), rtol=1e-9)
    assert ours.bic(IRIS) == pytest.approx(theirs.bic(IRIS))
    assert ours.aic(IRIS) == pytest.approx(theirs.aic(IRIS))


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_it_settles_at_the_same_iteration(covariance_type: str) -> None:
    params = {**start(covariance_type, IRIS), "max_iter": 500, "tol": 1e-4}
    ours, theirs = fitted(GaussianMixture, IRIS, **params), fitted(Theirs, IRIS, **params)
    assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, theirs.converged_)
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-10)


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_float32_rows_give_float32_parameters_near_theirs(covariance_type: str) -> None:
    X = IRIS.astype(np.float32)
    params = {**start(covariance_type, IRIS), "max_iter": 5, "tol": 0}
    ours, exact = fitted(GaussianMixture, X, **params), fitted(Theirs, IRIS, **params)
    for name in PUBLISHED[:3]:
        mine, other = getattr(ours, name), getattr(exact, name)
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-4 * np.abs(other).max())


@pytest.mark.parametrize("covariance_type", SHAPES)
def test_the_same_random_rows_for_the_same_seed(covariance_type: str) -> None:
    params = {**start(covariance_type, IRIS), "max_iter": 5, "tol": 0, "random_state": 7}
    ours, theirs = fitted(GaussianMixture, IRIS, **params), fitted(Theirs, IRIS, **params)
    for mine, other in zip(ours.sample(50), theirs.sample(50), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8)


def test_a_second_fit_goes_on_with_warm_start() -> None:
    params = {**start("full", IRIS), "tol": 0}
    once = fitted(GaussianMixture, IRIS, **params, max_iter=7)
    twice = GaussianMixture(**params, max_iter=3, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        twice.fit(IRIS)
        twice.set_params(max_iter=4).fit(IRIS)
    np.testing.assert_allclose(twice.means_, once.means_, rtol=1e-10)
