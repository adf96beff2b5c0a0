"""Where a user comes from scikit-learn: the same rows are drawn, a fit can be gone on with."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.mixture
from sklearn.exceptions import ConvergenceWarning

import coterie

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 2)) + np.repeat([[0.0], [4.0], [8.0]], 30, axis=0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["GaussianMixture", "BayesianGaussianMixture"])
def test_random_from_data_draws_scikit_learns_rows(name: str, seed: int) -> None:
    settings: dict[str, Any] = {
        "n_components": 3, "init_params": "random_from_data", "random_state": seed,
        "max_iter": 1, "n_init": 1,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = getattr(coterie, name)(**settings).fit(X)
        theirs = getattr(sklearn.mixture, name)(**settings).fit(X)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-6)


def test_random_from_data_draws_no_row_without_weight() -> None:
    weights = np.zeros(90)
    weights[[3, 40, 77]] = 1
    model = coterie.GaussianMixture(
        3, init_params="random_from_data", random_state=0, covariance_type="spherical"
    ).fit(X, sample_weight=weights)
    np.testing.assert_allclose(np.sort(model.means_, axis=0), np.sort(X[[3, 40, 77]], axis=0))


@pytest.mark.parametrize("max_iter", [1, 2, 50])
@pytest.mark.parametrize(
    "estimator", [coterie.GaussianMixture, coterie.StudentTMixture, coterie.BayesianGaussianMixture]
)
def test_fitted_again_and_again_it_converges(estimator: Any, max_iter: int) -> None:
    model = estimator(2, warm_start=True, max_iter=max_iter, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(300):
            if model.fit(X).converged_:
                break
    assert model.converged_


def test_a_weight_that_float32_cannot_hold_is_kept() -> None:
    rows = np.array([[0.0], [0.1], [0.2], [9.0]], dtype=np.float32)
    weights = np.array([1.0, 1, 1, 1e-60])
    model = coterie.BernoulliMixture(2, threshold=5, init_params="k-means++", random_state=0)
    model.fit(rows, sample_weight=weights)
    assert model.weights_.min() > 0
    assert np.isfinite(model.free_energy(rows, np.full((4, 2), 0.5)))


@pytest.mark.parametrize("seed", range(4))
def test_sgd_says_converged_only_where_em_gains_little(seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((300, 4)) * [1, 1, 5, 0.1]
    rows[::3] += 3
    model = coterie.GaussianMixture(
        4, solver="sgd", random_state=seed, max_iter=200, init_params="random", tol=1e-2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows)
        after = coterie.GaussianMixture(
            4, weights_init=model.weights_, means_init=model.means_,
            precisions_init=model.precisions_, max_iter=1,
        ).fit(rows)  # fmt: skip
    assert not model.converged_ or after.score(rows) - model.score(rows) < 1e-2


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_nothing_is_drawn_from_an_infinite_covariance(covariance_type: str) -> None:
    model = coterie.GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    model.covariances_ = np.full_like(model.covariances_, np.inf)
    with pytest.raises(ValueError, match="covariances_ holds NaN or infinity"):
        model.sample(2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "estimator", [coterie.GaussianMixture, coterie.StudentTMixture, coterie.BayesianGaussianMixture]
)
def test_log_densities_have_the_type_of_the_rows(estimator: Any, dtype: type) -> None:
    rows = X.astype(dtype)
    model = estimator(2, random_state=0).fit(rows)
    assert model.score_samples(rows).dtype == dtype
    assert model.score(rows) == pytest.approx(float(model.score_samples(rows).mean()), rel=1e-5)
    far = np.full((1, 2), 1e30, dtype=dtype)
    assert np.isfinite(model.score_samples(far)).all()


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_the_bound_never_falls_by_an_ulp(covariance_type: str) -> None:
    model = coterie.GaussianMixture(
        3, covariance_type=covariance_type, reg_covar=0, tol=0, max_iter=300, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    assert (np.diff(model.lower_bounds_) >= 0).all()


@pytest.mark.filterwarnings("ignore:covariance is not symmetric")  # scikit-learn's, in float32
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["GaussianMixture", "BayesianGaussianMixture"])
def test_labels_have_scikit_learns_dtype(name: str, dtype: Any) -> None:
    rows = X.astype(dtype)
    ours = getattr(coterie, name)(3, random_state=0).fit(rows)
    theirs = getattr(sklearn.mixture, name)(n_components=3, random_state=0).fit(rows)
    assert ours.predict(rows).dtype == theirs.predict(rows).dtype == np.int64
    assert ours.fit_predict(rows).dtype == np.int64
    assert ours.sample(4)[1].dtype == theirs.sample(4)[1].dtype
