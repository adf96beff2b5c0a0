"""The uniform background: its density, its label, and what it does for the components."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import coterie
from coterie import GaussianMixture
from coterie.data import as_source
from coterie.mixture._noise import bounding_box


def stars(n_noise: int = 60) -> np.ndarray:
    """Two clouds of 150 rows, then strays over a square."""
    rng = np.random.default_rng(2)
    clouds = rng.standard_normal((300, 2)) * 0.5 + np.repeat([[-3.0], [3.0]], 150, axis=0)
    return np.vstack([clouds, rng.uniform(-10, 10, (n_noise, 2))])


def test_the_density_is_that_of_the_box() -> None:
    X = stars()
    model = GaussianMixture(2, noise=True, random_state=0).fit(X)
    assert model.weights_.sum() + model.noise_weight_ == pytest.approx(1)
    lower, widths = model.noise_box_
    np.testing.assert_allclose(lower, X.min(axis=0))
    np.testing.assert_allclose(widths, np.ptp(X, axis=0))
    joint = np.column_stack(
        [
            np.log(model.weights_[j])
            + multivariate_normal(model.means_[j], model.covariances_[j]).logpdf(X)
            for j in range(2)
        ]
        + [np.full(len(X), np.log(model.noise_weight_) - np.log(widths).sum())]
    )
    norm = logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(X), norm, rtol=1e-9)
    resp = np.exp(joint - norm[:, np.newaxis])
    np.testing.assert_allclose(model.predict_proba(X), resp[:, :2], atol=1e-9)
    best = joint.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), np.where(best == 2, -1, best))
    assert model.free_energy(X, resp) == pytest.approx(-norm.sum())


def test_strays_are_noise_and_leave_the_components_alone() -> None:
    X = stars()
    model = GaussianMixture(2, noise=True, random_state=0).fit(X)
    assert (model.predict(X[300:]) == -1).mean() > 0.8
    assert (model.predict(X[:300]) == -1).mean() < 0.02
    assert model.noise_weight_ == pytest.approx(60 / 360, abs=0.05)
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [-3, 3], atol=0.15)
    variances = np.diagonal(model.covariances_, axis1=1, axis2=2)
    np.testing.assert_allclose(variances, 0.25, atol=0.1)
    far = model.predict([[1e6, -1e6]])
    assert far.tolist() == [-1]


def test_samples_hold_noise_too() -> None:
    model = GaussianMixture(2, noise=True, random_state=0).fit(stars())
    rows, labels = model.sample(2000)
    assert set(labels) == {-1, 0, 1}
    assert (labels == -1).mean() == pytest.approx(model.noise_weight_, abs=0.04)
    lower, widths = model.noise_box_
    stray = rows[labels == -1]
    assert (stray >= lower).all()
    assert (stray <= lower + widths).all()


def test_missing_cells_see_only_their_sides_of_the_box() -> None:
    X = stars()
    X[::7, 1] = np.nan
    X[3] = np.nan
    model = GaussianMixture(2, covariance_type="diag", noise=True, random_state=0).fit(X)
    row = X[7]
    components = [
        model.weights_[j]
        * multivariate_normal(model.means_[j, :1], model.covariances_[j, 0]).pdf(row[0])
        for j in range(2)
    ]
    background = model.noise_weight_ / model.noise_box_[1, 0]
    assert model.score_samples(X)[7] == pytest.approx(np.log(sum(components) + background))
    assert model.score_samples(X)[3] == pytest.approx(0)
    np.testing.assert_allclose(model.predict_proba(X)[3], model.weights_)


def test_rows_without_weight_and_constant_columns_do_not_stretch_the_box() -> None:
    X = np.column_stack([np.arange(5.0), np.full(5, 7.0)])
    box = bounding_box(as_source(X, np.array([1.0, 1, 1, 1, 0])), np.array([1.0, 0.01]))
    np.testing.assert_allclose(box.lower, [0, 7])
    np.testing.assert_allclose(box.widths, [3, np.sqrt(0.02 * np.pi)])
    model = GaussianMixture(1, noise=True, reg_covar="auto").fit(X)
    assert np.isfinite(model.score_samples(X)).all()


def test_it_is_kept_by_files_warm_starts_and_fixed_weights(tmp_path: Path) -> None:
    X = stars()
    model = GaussianMixture(2, noise=True, random_state=0, warm_start=True).fit(X)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").predict(X), model.predict(X))
    before = model.lower_bound_
    assert model.fit(X).lower_bound_ >= before
    fixed = GaussianMixture(2, noise=True, fixed=("weights",), random_state=0).fit(X)
    np.testing.assert_allclose(fixed.weights_, 0.45)
    assert fixed.noise_weight_ == pytest.approx(0.1)
