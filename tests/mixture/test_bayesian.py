"""Variational mixtures: scikit-learn's numbers, a bound that never falls, components counted.

Covers coterie.mixture._posterior_weights and coterie.mixture._variational.
"""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, wishart
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import BayesianGaussianMixture as TheirMixture
from sklearn.utils.estimator_checks import check_estimator

import coterie
from coterie import BayesianGaussianMixture
from coterie.data import Block
from coterie.mixture._covariance import SHAPES
from coterie.mixture._posterior_weights import POSTERIOR_WEIGHTS
from coterie.mixture._start import STARTS, Rows, by_guess

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ATTRIBUTES = [
    "weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "mean_precision_",
    "weight_concentration_", "degrees_of_freedom_", "lower_bound_", "lower_bounds_",
    "weight_concentration_prior_", "mean_precision_prior_", "mean_prior_",
    "degrees_of_freedom_prior_", "covariance_prior_",
]  # fmt: skip


def assert_close(ours: Any, theirs: Any, what: str) -> None:
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    error = np.abs(ours.ravel() - theirs.ravel()).max() / np.abs(theirs).max()
    assert ours.size == theirs.size
    assert error < 1e-8, what


class TheirDraws:
    """Random responsibilities as scikit-learn draws them, all rows in one go."""

    def __init__(self, rows: Rows, n_components: int, rng: np.random.RandomState) -> None:
        resp = rng.uniform(size=(rows.blocks.n_rows, n_components))
        self._resp = resp / resp.sum(axis=1)[:, np.newaxis]

    def __call__(self, tile: Block) -> Any:
        return self._resp[tile.span]


@pytest.fixture
def _their_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are drawn by row: to compare steps, both begin with theirs."""
    monkeypatch.setitem(STARTS, "random", partial(by_guess, TheirDraws))


@pytest.mark.usefixtures("_their_draws")
@pytest.mark.parametrize("weights", POSTERIOR_WEIGHTS)
@pytest.mark.parametrize("covariance_type", SHAPES)
@pytest.mark.parametrize("reg_covar", [0, 1e-6, 1e-2])
def test_every_iteration_is_scikit_learns(
    covariance_type: str, weights: str, reg_covar: float
) -> None:
    X = load_iris().data
    for max_iter, init_params in [(1, "random"), (2, "kmeans"), (10, "random")]:
        params = {
            "n_components": 4, "covariance_type": covariance_type, "reg_covar": reg_covar,
            "weight_concentration_prior_type": weights, "max_iter": max_iter, "tol": 0,
            "init_params": init_params, "random_state": 1,
        }  # fmt: skip
        ours, theirs = BayesianGaussianMixture(**params).fit(X), TheirMixture(**params).fit(X)
        for name in ATTRIBUTES:
            assert_close(getattr(ours, name), getattr(theirs, name), name)
        assert_close(ours.score_samples(X), theirs.score_samples(X), "score_samples")
        assert_close(ours.predict_proba(X), theirs.predict_proba(X), "predict_proba")
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.sample(7)[0], theirs.sample(7)[0])


@pytest.mark.usefixtures("_their_draws")
@pytest.mark.parametrize("covariance_type", SHAPES)
def test_a_given_prior_is_used_as_scikit_learn_does(covariance_type: str) -> None:
    X = load_iris().data
    matrix = np.cov(X.T) / 3
    scale = {"full": matrix, "tied": matrix, "diag": np.diagonal(matrix), "spherical": 0.3}
    params = {
        "n_components": 3, "covariance_type": covariance_type, "init_params": "random", "tol": 0,
        "weight_concentration_prior": 0.7, "mean_precision_prior": 0.2, "random_state": 0,
        "mean_prior": X[3], "degrees_of_freedom_prior": 3.5, "max_iter": 10,
        "covariance_prior": scale[covariance_type],
    }  # fmt: skip
    ours, theirs = BayesianGaussianMixture(**params).fit(X), TheirMixture(**params).fit(X)
    for name in ATTRIBUTES:
        assert_close(getattr(ours, name), getattr(theirs, name), name)


@settings(max_examples=30)
@given(
    st.sampled_from(list(SHAPES)),
    st.sampled_from(list(POSTERIOR_WEIGHTS)),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(0, 100),
    st.booleans(),
)
def test_the_bound_never_falls(
    covariance_type: str, weights: str, d: int, k: int, seed: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, d)) * rng.uniform(0.1, 5, d) + rng.integers(0, 3, (40, 1)) * 4
    model = BayesianGaussianMixture(
        k,
        covariance_type=covariance_type,
        weight_concentration_prior_type=weights,
        reg_covar=0,
        tol=0,
        max_iter=25,
        init_params="random",
        random_state=seed,
    )
    with coterie.options(check_invariants=True):
        model.fit(X, sample_weight=rng.uniform(0, 2, 40) if weighted else None)
    steps = [e[half] for e in model.history_ for half in ("objective_assign", "objective_update")]
    assert (np.diff(steps) <= 1e-9 * np.abs(steps).max()).all()


@pytest.mark.parametrize("weights", POSTERIOR_WEIGHTS)
def test_the_objective_is_the_bound_on_the_evidence(weights: str) -> None:
    """With one component in one dimension the posterior is exact: -F is log p(X) itself."""
    x = np.array([[0.3], [1.9], [-0.4], [2.2], [0.8]])
    beta, nu, scale = 0.5, 3.0, 2.0
    model = BayesianGaussianMixture(
        1,
        weight_concentration_prior_type=weights,
        weight_concentration_prior=1e-9,  # so that a stick is hardly broken
        mean_prior=[0.1],
        mean_precision_prior=beta,
        degrees_of_freedom_prior=nu,
        covariance_prior=[[scale]],
        reg_covar=0,
        tol=0,
        max_iter=5,
    ).fit(x)
    # Chib's identity, log p(x) = log p(x, theta) - log q(theta), at some theta.
    mu, precision = 0.7, 1.3
    prior = multivariate_normal(0.1, 1 / (beta * precision)).logpdf(mu)
    prior += wishart(nu, 1 / scale).logpdf(precision)
    rows = multivariate_normal(mu, 1 / precision).logpdf(x).sum()
    own = float(model.degrees_of_freedom_[0])
    posterior = multivariate_normal(
        model.means_[0, 0], 1 / (model.mean_precision_[0] * precision)
    ).logpdf(mu)
    posterior += wishart(own, model.precisions_[0] / own).logpdf(precision)
    assert -model.free_energy(x) == pytest.approx(prior + rows - posterior, abs=1e-6)
    assert model.history_[-1]["objective_update"] == pytest.approx(model.free_energy(x), abs=1e-6)


def test_free_energy_is_least_at_the_posterior() -> None:
    X = load_iris().data
    model = BayesianGaussianMixture(3, random_state=0).fit(X)
    least = model.free_energy(X)
    assert model.free_energy(X, model.predict_proba(X)) == pytest.approx(least)
    assert model.free_energy(X, np.full((150, 3), 1 / 3)) > least


@pytest.mark.parametrize("weights", POSTERIOR_WEIGHTS)
def test_of_ten_components_three_blobs_keep_three(weights: str) -> None:
    X, truth = make_blobs(600, centers=[[0, 0], [8, 0], [4, 7]], random_state=0)
    model = BayesianGaussianMixture(
        10,
        weight_concentration_prior_type=weights,
        weight_concentration_prior=1e-3,
        max_iter=500,
        random_state=0,
    ).fit(X)
    assert np.count_nonzero(model.weights_ > 0.01) == 3
    labels = model.predict(X)
    assert len(np.unique(labels)) == 3
    assert len(set(zip(truth, labels, strict=True))) == 3


def degenerate() -> dict[str, Any]:
    rows = np.random.default_rng(0).standard_normal((40, 3))
    return {
        "duplicates": np.repeat(rows[:5], 8, axis=0),
        "constant column": np.column_stack([rows, np.ones(40)]),
        "collinear": np.column_stack([rows, rows @ [1.0, 2.0, 3.0]]),
        "equal rows": np.ones((20, 2)),
        "as many components as rows": rows[:4],
        "outlier": np.vstack([rows, [[1e6] * 3]]),
        "tiny": rows * 1e-150,
        "huge": rows * 1e150,
        "far": rows + 1e8,
        "float32": rows.astype(np.float32) * 1e12,
    }


@pytest.mark.parametrize("covariance_type", SHAPES)
@pytest.mark.parametrize("name", degenerate())
def test_degenerate_rows_end_in_a_valid_mixture(name: str, covariance_type: str) -> None:
    X = degenerate()[name]
    for reg_covar in (0, 1e-6):
        model = BayesianGaussianMixture(
            4, covariance_type=covariance_type, reg_covar=reg_covar, random_state=0
        ).fit(X)
        for values in (model.weights_, model.means_, model.covariances_, model.precisions_):
            assert np.isfinite(values).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


def test_a_singular_prior_is_told_of() -> None:
    model = BayesianGaussianMixture(2, random_state=0).fit(degenerate()["constant column"])
    assert [event["where"] for event in model.events_] == ["covariance_prior"]


def test_integer_weights_are_repeated_rows() -> None:
    X = load_iris().data
    weights = np.random.default_rng(0).integers(1, 4, 150)
    params = {"n_components": 1, "max_iter": 3, "tol": 0}
    weighted = BayesianGaussianMixture(**params).fit(X, sample_weight=weights)
    repeated = BayesianGaussianMixture(**params).fit(np.repeat(X, weights, axis=0))
    for name in ("means_", "covariances_", "lower_bound_", "covariance_prior_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name))


def test_threads_change_nothing() -> None:
    X = np.random.default_rng(0).standard_normal((6000, 4))
    fits = [
        BayesianGaussianMixture(4, random_state=0, max_iter=10, n_threads=n_threads).fit(X)
        for n_threads in (1, 2, 3)
    ]
    assert len({model.means_.tobytes() for model in fits}) == 1


@pytest.mark.parametrize("weights", POSTERIOR_WEIGHTS)
@pytest.mark.parametrize("covariance_type", SHAPES)
def test_files_and_pickles_predict_the_same(
    covariance_type: str, weights: str, tmp_path: Path
) -> None:
    X = load_iris().data
    model = BayesianGaussianMixture(
        3,
        covariance_type=covariance_type,
        weight_concentration_prior_type=weights,
        random_state=0,
    ).fit(X)
    model.save(tmp_path / "model")
    for other in (coterie.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.score_samples(X), model.score_samples(X))
        assert other.free_energy(X) == model.free_energy(X)


def test_a_second_fit_goes_on() -> None:
    X = load_iris().data
    model = BayesianGaussianMixture(3, random_state=0, warm_start=True, max_iter=5, tol=0)
    first = model.fit(X).lower_bound_
    assert model.fit(X).lower_bounds_[0] > first


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"mean_prior": [1.0, 2.0]}, "mean_prior"),
        ({"degrees_of_freedom_prior": 3.0}, "greater than 3"),
        ({"covariance_prior": -np.eye(4)}, "positive definite"),
        ({"covariance_prior": np.eye(3)}, "covariance_prior"),
        ({"covariance_type": "spherical", "covariance_prior": [1.0]}, "covariance_prior"),
        ({"weight_concentration_prior": 0.0}, "above 0"),
    ],
)
def test_an_impossible_prior_is_refused(params: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BayesianGaussianMixture(2, **params).fit(load_iris().data)


def test_criteria_of_likelihood_fits_are_refused() -> None:
    X = load_iris().data
    model = BayesianGaussianMixture(2, random_state=0).fit(X)
    for name in ("bic", "aic", "icl"):
        with pytest.raises(AttributeError, match="lower_bound_"):
            getattr(model, name)(X)


def test_scikit_learns_checks() -> None:
    results = check_estimator(BayesianGaussianMixture(), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
