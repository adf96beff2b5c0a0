"""Student-t mixtures: against the definition, robustness, limits, the background.

Covers mixture/_student.py.
"""

from __future__ import annotations

import mixture_twins as twins
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_t
from sklearn.metrics import adjusted_rand_score

from coterie import GaussianMixture, StudentTMixture
from coterie.mixture._student import LEAST_DOF, MOST_DOF, solve_dof

SHAPES = ("full", "tied", "diag", "spherical")


def blobs(rng, n=150):
    truth = np.repeat([0, 1, 2], n)
    centers = np.array([[0.0, 0], [8, 0], [0, 8]])
    return centers[truth] + rng.standard_normal((3 * n, 2)), truth


def near(X):
    """A start close to the blobs."""
    return {
        "weights_init": np.full(3, 1 / 3),
        "means_init": X[[0, 150, 300]],
        "precisions_init": np.stack([np.eye(2)] * 3),
    }


def matrices(model):
    k, d = model.means_.shape
    cov, kind = model.covariances_, model.covariance_type
    if kind == "tied":
        return np.stack([cov] * k)
    if kind == "full":
        return cov
    return np.stack([np.eye(d) * own for own in cov])


@pytest.mark.parametrize("kind", SHAPES)
def test_densities_are_those_of_scipy(kind):
    X, _ = blobs(np.random.RandomState(0), 40)
    model = StudentTMixture(3, covariance_type=kind, random_state=0, max_iter=500).fit(X)
    log_probs = np.stack(
        [
            np.log(w) + multivariate_t.logpdf(X, mean, cov, df)
            for w, mean, cov, df in zip(
                model.weights_,
                model.means_,
                matrices(model),
                model.degrees_of_freedom_,
                strict=True,
            )
        ],
        axis=1,
    )
    expected = twins.posterior(log_probs)
    np.testing.assert_allclose(model.score_samples(X), expected.row_log_prob, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), expected.resp, rtol=1e-6, atol=1e-12)


def test_one_component_is_the_maximum_of_the_likelihood():
    X = np.random.RandomState(0).standard_t(3, (400, 1)) * 2 + 5
    model = StudentTMixture(tol=1e-12, max_iter=5000, reg_covar=0).fit(X)

    def negative(theta):
        return -multivariate_t.logpdf(X, theta[0], np.exp(theta[1]), np.exp(theta[2])).sum()

    best = minimize(
        negative, [5, 1, 1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-10}
    )
    assert -model.score(X) * 400 == pytest.approx(best.fun, abs=1e-5)
    assert model.means_[0, 0] == pytest.approx(best.x[0], rel=1e-4)
    assert model.degrees_of_freedom_[0] == pytest.approx(np.exp(best.x[2]), rel=1e-2)


@pytest.mark.parametrize("kind", SHAPES)
def test_many_degrees_of_freedom_are_gaussian(kind):
    X, _ = blobs(np.random.RandomState(1), 50)
    params = {"covariance_type": kind, "random_state": 0, "tol": 0, "max_iter": 5}
    with pytest.warns(UserWarning, match="did not converge"):
        gauss = GaussianMixture(3, **params).fit(X)
    with pytest.warns(UserWarning, match="did not converge"):
        student = StudentTMixture(3, degrees_of_freedom=1e6, **params).fit(X)
    np.testing.assert_allclose(student.means_, gauss.means_, atol=1e-4)
    np.testing.assert_allclose(student.covariances_, gauss.covariances_, atol=1e-4)
    assert student.lower_bound_ == pytest.approx(gauss.lower_bound_, abs=1e-4)
    assert student.bic(X) == pytest.approx(gauss.bic(X), rel=1e-5)
    assert (student.degrees_of_freedom_ == 1e6).all()


def test_outliers_move_a_gaussian_but_not_a_t():
    rng = np.random.RandomState(0)
    X, truth = blobs(rng)
    dirty = np.vstack([X, rng.uniform(-60, 60, (45, 2))])
    start = near(X)
    gauss = GaussianMixture(3, max_iter=500, **start).fit(dirty)
    student = StudentTMixture(3, max_iter=500, **start).fit(dirty)
    assert adjusted_rand_score(truth, student.predict(X)) > 0.98
    assert adjusted_rand_score(truth, gauss.predict(X)) < 0.8
    assert student.score(dirty) > gauss.score(dirty)
    centers = np.array([X[truth == j].mean(axis=0) for j in range(3)])
    assert np.abs(student.means_ - centers).max() < 0.5
    assert student.degrees_of_freedom_.min() < 2


def test_the_background_takes_the_outliers():
    rng = np.random.RandomState(1)
    X, truth = blobs(rng)
    dirty = np.vstack([X, rng.uniform(-60, 60, (60, 2))])
    labels = np.append(truth, np.full(60, -1))
    model = StudentTMixture(3, noise=True, max_iter=500, **near(X)).fit(dirty)
    assert adjusted_rand_score(labels, model.predict(dirty)) > 0.95
    assert model.noise_weight_ == pytest.approx(60 / 510, abs=0.03)
    resp = model.predict_proba(dirty)
    assert resp[450:].sum(axis=1).mean() < 0.1
    drawn, drawn_from = model.sample(500)
    assert drawn.shape == (500, 2)
    assert -1 in drawn_from


def test_what_was_drawn_is_found_again():
    rng = np.random.RandomState(0)
    truth = rng.choice(2, 6000, p=[0.6, 0.4])
    scales = np.where(truth == 0, rng.gamma(1.5, 1 / 1.5, 6000), rng.gamma(10, 1 / 10, 6000))
    X = (
        10.0 * truth[:, np.newaxis]
        + rng.standard_normal((6000, 2)) / np.sqrt(scales)[:, np.newaxis]
    )
    model = StudentTMixture(2, random_state=0, tol=1e-7, max_iter=1000).fit(X)
    order = np.argsort(-model.weights_)
    np.testing.assert_allclose(model.weights_[order], [0.6, 0.4], atol=0.02)
    np.testing.assert_allclose(model.means_[order], [[0, 0], [10, 10]], atol=0.1)
    assert model.degrees_of_freedom_[order[0]] == pytest.approx(3, rel=0.15)
    assert 10 < model.degrees_of_freedom_[order[1]] < 60
    again, _ = model.sample(6000)
    assert model.score(again) == pytest.approx(model.score(X), abs=0.05)


@pytest.mark.parametrize("dof", [LEAST_DOF, 0.7, 3.0, 100.0, MOST_DOF])
def test_degrees_of_freedom_are_the_root(dof):
    from scipy.special import digamma

    mean_scale = digamma(dof / 2) - np.log(dof / 2) - 1
    assert solve_dof(mean_scale) == pytest.approx(dof, rel=1e-4)


def test_degrees_of_freedom_stay_in_range():
    assert solve_dof(-1.0) == MOST_DOF
    assert solve_dof(-1e6) == LEAST_DOF


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_any_scale_and_far_rows(kind, scale):
    X, _ = blobs(np.random.RandomState(2), 20)
    X = np.vstack([X, [[1e8, -1e8]]]) * scale
    model = StudentTMixture(3, covariance_type=kind, reg_covar="auto", random_state=0, max_iter=300)
    model.fit(X)
    assert np.isfinite(model.covariances_).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        StudentTMixture().fit([[1.0], [np.nan]])
