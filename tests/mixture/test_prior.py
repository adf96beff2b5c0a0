"""MAP: the posterior's maximum by the published formulas, and what a prior is for."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import GaussianMixture
from coterie.mixture._covariance import SHAPES

RNG = np.random.default_rng(4)
X = RNG.standard_normal((120, 3)) @ [[1, 0.5, 0], [0, 1, 0.3], [0, 0, 2]] + np.repeat(
    [[0.0], [4.0]], 60, axis=0
)
K, D, N = 2, 3, 120


def one_step(covariance_type: str, prior: Any) -> tuple[Any, Any]:
    """A start, and where one iteration of MAP-EM leads from it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = GaussianMixture(K, covariance_type=covariance_type, random_state=0).fit(X)
        step = GaussianMixture(
            K, covariance_type=covariance_type, reg_covar=0, max_iter=1, prior=prior,
            weights_init=start.weights_, means_init=start.means_,
            precisions_init=start.precisions_,
        ).fit(X)  # fmt: skip
    return start, step


@pytest.mark.parametrize("covariance_type", list(SHAPES))
def test_the_m_step_is_fraley_and_rafterys(covariance_type: str) -> None:
    mean, kappa, nu = np.array([1.0, 2.0, 0.5]), 3.0, 7.0
    scale = np.diag([2.0, 1.0, 0.5]) + 0.1
    prior = {"mean": mean, "mean_precision": kappa, "degrees_of_freedom": nu, "scale": scale}
    start, step = one_step(covariance_type, prior)
    full = SHAPES[covariance_type].full(start.covariances_, K, D)
    joint = np.column_stack(
        [
            np.log(start.weights_[j]) + multivariate_normal(start.means_[j], full[j]).logpdf(X)
            for j in range(K)
        ]
    )
    resp = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    counts = resp.sum(axis=0)
    centers = resp.T @ X / counts[:, np.newaxis]
    means = (counts[:, np.newaxis] * centers + kappa * mean) / (counts + kappa)[:, np.newaxis]
    np.testing.assert_allclose(step.means_, means, rtol=1e-8)
    within = np.stack(
        [(resp[:, j, None] * (X - centers[j])).T @ (X - centers[j]) for j in range(K)]
    )
    pulls = np.stack(
        [
            kappa * counts[j] / (kappa + counts[j]) * np.outer(centers[j] - mean, centers[j] - mean)
            for j in range(K)
        ]
    )
    scatter = within + pulls
    diagonals = np.diagonal(scatter, axis1=1, axis2=2)
    ball = np.trace(scale) / D
    expected = {
        "full": (scale + scatter) / (nu + D + counts + 2)[:, np.newaxis, np.newaxis],
        "tied": (scale + scatter.sum(axis=0)) / (nu + D + N + K + 1),
        "diag": (np.diagonal(scale) + diagonals) / (nu + counts + 3)[:, np.newaxis],
        "spherical": (ball + diagonals.sum(axis=1)) / (nu + (counts + 1) * D + 2),
    }[covariance_type]
    np.testing.assert_allclose(step.covariances_, expected, rtol=1e-8)


def test_the_automatic_choice() -> None:
    _, step = one_step("full", "auto")
    given = {
        "concentration": 1.0,
        "mean": X.mean(axis=0),
        "mean_precision": 0.01,
        "degrees_of_freedom": D + 2.0,
        "scale": np.cov(X.T, bias=True) / K ** (2 / D),
    }
    _, same = one_step("full", given)
    np.testing.assert_allclose(step.covariances_, same.covariances_, rtol=1e-9)
    np.testing.assert_allclose(step.means_, same.means_, rtol=1e-9)


def test_the_weights_have_a_dirichlet_prior() -> None:
    _, flat = one_step("diag", None)
    _, step = one_step("diag", {"concentration": 11.0, "mean_precision": 0.0})
    np.testing.assert_allclose(step.weights_, (flat.weights_ * N + 10) / (N + 20))


@pytest.mark.parametrize("covariance_type", list(SHAPES))
def test_the_log_posterior_never_falls(covariance_type: str) -> None:
    model = GaussianMixture(
        4, covariance_type=covariance_type, reg_covar=0, random_state=1, tol=1e-7, max_iter=300,
        prior={"concentration": 3.0},
    )  # fmt: skip
    with coterie.options(check_invariants=True):
        model.fit(X)
    bounds = np.array(model.lower_bounds_)
    assert len(bounds) > 3
    assert (np.diff(bounds) >= -1e-10).all()


def test_nothing_collapses_under_a_prior() -> None:
    rows = np.vstack([X, [[40.0, 40, 40]]])
    settings = {"reg_covar": 0, "random_state": 0, "max_iter": 300}
    spiked = GaussianMixture(3, **settings).fit(rows)
    assert any(event["what"] == "collapsed" for event in spiked.events_)
    calm = GaussianMixture(3, **settings, prior="auto").fit(rows)
    assert not calm.events_
    assert np.linalg.eigvalsh(calm.covariances_).min() > 1e-2


def test_it_is_free_of_scale() -> None:
    plain = GaussianMixture(2, prior="auto", reg_covar="auto", random_state=0).fit(X)
    units = np.array([1e-3, 1.0, 1e6])
    other = GaussianMixture(2, prior="auto", reg_covar="auto", means_init=plain.means_ * units)
    anew = GaussianMixture(2, prior="auto", reg_covar="auto", means_init=plain.means_)
    settings = {"init_params": "random", "random_state": 0}
    anew.set_params(**settings).fit(X)
    other.set_params(**settings).fit(X * units)
    np.testing.assert_allclose(other.means_, anew.means_ * units, rtol=1e-6)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("flat", "prior='flat' was given; use None or one of 'auto' or a dict with keys out of"),
        ({"kappa": 1}, "prior={'kappa': 1} was given; use None"),
        ({"mean_precision": -1}, "prior['mean_precision'] is -1; use a number of at least 0"),
        ({"concentration": 0.5}, "prior['concentration'] is 0.5; use a number of at least 1"),
        ({"degrees_of_freedom": 1}, "use a number of at least 2"),
        ({"mean": [0, 1]}, "'prior['mean']' should have the shape of (3,), but got (2,)"),
        ({"mean": None}, "should have the shape of (3,), but got ()"),
        ({"mean": "far"}, "prior['mean'] is no array of numbers"),
        ({"mean": [0, 1, np.nan]}, "prior['mean'] contains NaN or infinity"),
        ({"scale": 1.0}, "'prior['scale']' should have the shape of (3, 3), but got ()"),
        ({"scale": -np.eye(3)}, "prior['scale'] must be a symmetric matrix"),
    ],
)
def test_a_wrong_prior_is_named(prior: Any, words: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 the words are compared below
        GaussianMixture(2, prior=prior).fit(X)
    assert words in str(error.value)
    assert str(error.value).startswith("GaussianMixture: ")


def test_it_is_kept_by_files(tmp_path: Path) -> None:
    model = GaussianMixture(2, prior={"mean": X[0], "concentration": 2.0}, random_state=0).fit(X)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.prior["mean"], X[0])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
