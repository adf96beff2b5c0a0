"""Missing values: against formulas written out row by row, and what must always hold.

Covers coterie.mixture._complete.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import GaussianMixture
from coterie.data import Block, as_source
from coterie.mixture._complete import completed, look_over_observed
from coterie.mixture._covariance import SHAPES
from coterie.mixture._missing import ObservedGaussianFamily, groups
from coterie.mixture._values import has_missing

TYPES = list(SHAPES)


def clouds(n: int = 240, d: int = 3, share: float = 0.2, seed: int = 0) -> np.ndarray:
    """Three correlated clouds with holes at random; row 0 is complete, row 1 all missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * np.tri(d, d, -1))
    X += rng.permutation(np.repeat([0.0, 5.0, 11.0], n // 3))[:, np.newaxis]
    holes = rng.random((n, d)) < share
    holes[0], holes[1] = False, True
    X[holes] = np.nan
    return X


def fitted(X: Any, covariance_type: str, **settings: Any) -> GaussianMixture:
    settings = {"reg_covar": "auto", "random_state": 0, "max_iter": 20, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(3, covariance_type=covariance_type, **settings).fit(X)


def naive_log_joint(model: GaussianMixture, X: np.ndarray) -> np.ndarray:
    """log w_j N(x_o | mu_o, Sigma_oo), a row and a component at a time."""
    k, d = model.means_.shape
    covariances = SHAPES[model.covariance_type].full(model.covariances_, k, d)
    joint = np.zeros((len(X), k))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        for j in range(k):
            joint[i, j] = np.log(model.weights_[j])
            if seen.any():
                normal = multivariate_normal(
                    model.means_[j, seen], covariances[j][np.ix_(seen, seen)]
                )
                joint[i, j] += normal.logpdf(row[seen])
    return joint


def naive_m_step(model: GaussianMixture, X: np.ndarray, weights: np.ndarray) -> tuple[Any, ...]:
    """Weights, means and covariances (full) from conditional moments, row by row."""
    k, d = model.means_.shape
    old = SHAPES[model.covariance_type].full(model.covariances_, k, d)
    joint = naive_log_joint(model, X)
    mass = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * weights[:, np.newaxis]
    counts = mass.sum(axis=0)
    means, covariances = np.zeros((k, d)), np.zeros((k, d, d))
    for j in range(k):
        rows, extra = np.zeros(X.shape), np.zeros((len(X), d, d))
        for i, row in enumerate(X):
            seen = ~np.isnan(row)
            onto = old[j][np.ix_(~seen, seen)] @ np.linalg.inv(old[j][np.ix_(seen, seen)])
            rows[i, seen] = row[seen]
            rows[i, ~seen] = model.means_[j, ~seen] + onto @ (row[seen] - model.means_[j, seen])
            extra[i][np.ix_(~seen, ~seen)] = (
                old[j][np.ix_(~seen, ~seen)] - onto @ old[j][np.ix_(seen, ~seen)]
            )
        means[j] = mass[:, j] @ rows / counts[j]
        away = rows - means[j]
        covariances[j] = (
            np.einsum("i,ia,ib->ab", mass[:, j], away, away)
            + np.einsum("i,iab->ab", mass[:, j], extra)
        ) / counts[j]
    return counts / counts.sum(), means, covariances, counts


@pytest.mark.parametrize("covariance_type", TYPES)
def test_densities_are_those_of_the_observed_columns(covariance_type: str) -> None:
    X = clouds()
    model = fitted(X, covariance_type)
    joint = naive_log_joint(model, X)
    norm = logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(X), norm, rtol=1e-9, atol=1e-12)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, np.exp(joint - norm[:, np.newaxis]), atol=1e-9)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[1], model.weights_)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    assert model.free_energy(X) == pytest.approx(-norm.sum())
    resp = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    by_hand = (resp * (np.log(resp) - joint)).sum()
    assert model.free_energy(X, resp) == pytest.approx(by_hand)
    assert model.free_energy(X, proba) == pytest.approx(-norm.sum())
    assert np.isfinite([model.bic(X), model.icl(X), *model.sample(5)[0].ravel()]).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_one_iteration_is_that_of_the_conditional_moments(
    covariance_type: str, weighted: bool
) -> None:
    X = clouds(90)
    weights = np.random.default_rng(5).uniform(0.2, 2, 90) if weighted else np.ones(90)
    start = fitted(X, covariance_type, max_iter=3)
    given = {
        "weights_init": start.weights_,
        "means_init": start.means_,
        "precisions_init": start.precisions_,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        step = GaussianMixture(
            3, covariance_type=covariance_type, reg_covar=0, max_iter=1, **given
        ).fit(X, sample_weight=weights if weighted else None)
    shares, means, covariances, counts = naive_m_step(start, X, weights)
    np.testing.assert_allclose(step.weights_, shares, rtol=1e-8)
    np.testing.assert_allclose(step.means_, means, rtol=1e-8)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    expected = {
        "full": covariances,
        "tied": np.einsum("j,jab->ab", counts, covariances) / counts.sum(),
        "diag": variances,
        "spherical": variances.mean(axis=1),
    }[covariance_type]
    np.testing.assert_allclose(step.covariances_, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=24)
@given(
    covariance_type=st.sampled_from(TYPES),
    weighted=st.booleans(),
    noise=st.booleans(),
    prior=st.sampled_from([None, "auto", {"concentration": 2.0, "mean_precision": 1.0}]),
    share=st.sampled_from([0.0, 0.1, 0.6]),
    seed=st.integers(0, 999),
)
def test_the_free_energy_never_rises(
    covariance_type: str, weighted: bool, noise: bool, prior: Any, share: float, seed: int
) -> None:
    X = clouds(60, share=share, seed=seed)
    weights = np.random.default_rng(seed).uniform(0, 2, len(X)) if weighted else None
    model = GaussianMixture(
        3, covariance_type=covariance_type, reg_covar="auto", noise=noise, prior=prior,
        random_state=seed, max_iter=15, tol=0,
    )  # fmt: skip
    with coterie.options(check_invariants=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sample_weight=weights)
    anew = {event["iteration"] for event in model.events_ if "re-seeded" in event["detail"]}
    before = np.inf
    for entry in model.history_:
        slack = 1e-8 * (abs(entry["energy"]) + abs(entry["neg_entropy"]))
        assert entry["objective_assign"] <= before + slack
        assert entry["objective_update"] <= entry["objective_assign"] + slack
        before = np.inf if entry["iteration"] in anew else entry["objective_update"]
    if prior is None:
        weighed = GaussianMixture.free_energy(model, X, sample_weight=weights)
        assert weighed <= before + 1e-6 * abs(before)
    total = model.predict_proba(X).sum(axis=1)
    assert (total <= 1 + 1e-12).all()
    if not noise:
        np.testing.assert_allclose(total, 1)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_means_are_recovered_from_what_is_left(covariance_type: str) -> None:
    X = clouds(3000, share=0.3, seed=3)
    model = fitted(X, covariance_type, max_iter=200, tol=1e-6)
    found = np.sort(model.means_.mean(axis=1))
    np.testing.assert_allclose(found, [0, 5, 11], atol=0.25)


def test_rows_without_any_value_change_nothing() -> None:
    X = clouds(share=0.0)[2:]
    given = {"means_init": np.repeat([[0.0], [5], [11]], 3, axis=1), "max_iter": 40, "tol": 1e-12}
    hollow = np.vstack([X, np.full((4, 3), np.nan)])
    complete, more = (fitted(rows, "full", **given) for rows in (X, hollow))
    np.testing.assert_allclose(more.means_, complete.means_, rtol=1e-6)
    np.testing.assert_allclose(more.covariances_, complete.covariances_, rtol=1e-4)


def test_rows_fall_into_groups_of_one_pattern() -> None:
    X = clouds(201, d=11, share=0.3)
    seen = np.concatenate([group.row_ids for group in groups(Block(X, None, 0, 1))])
    assert sorted(seen) == list(range(201))
    for group in groups(Block(X, np.arange(201.0), 0, 1)):
        pattern = np.ones(11, dtype=bool) if group.observed is None else group.observed
        assert ((~np.isnan(X[group.row_ids])) == pattern).all()
        np.testing.assert_array_equal(group.block.rows, X[group.row_ids][:, pattern])
        np.testing.assert_array_equal(group.block.weights, group.row_ids)


def test_the_start_is_completed_with_weighted_medians() -> None:
    X = np.array([[1.0, np.nan], [np.nan, 2], [5, 8], [9, 4], [np.nan, 100]])
    assert completed(as_source(X)).rows.tolist() == [[1, 4], [5, 2], [5, 8], [9, 4], [5, 100]]
    heavy = completed(as_source(X, np.array([1.0, 1, 1, 3, 0])))
    assert heavy.rows.tolist() == [[1, 4], [9, 2], [5, 8], [9, 4], [9, 100]]


def test_the_overview_uses_what_was_observed() -> None:
    X = clouds(402)
    weights = np.random.default_rng(1).integers(0, 3, 402).astype(float)
    overview = look_over_observed("Test", as_source(X, weights))
    repeated = np.repeat(X, weights.astype(int), axis=0)
    np.testing.assert_allclose(overview.mean, np.nanmean(repeated, axis=0))
    np.testing.assert_allclose(np.diagonal(overview.covariance), np.nanvar(repeated, axis=0))
    assert np.linalg.eigvalsh(overview.covariance)[0] > 0


def test_what_cannot_be_fitted_is_said() -> None:
    X = clouds()
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"GaussianMixture: column 1 of X holds no value but NaN"):
        fitted(X, "full")
    X = clouds()
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted(X, "full")
    model = fitted(clouds(), "full")
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_containers_give_the_same(dtype: type, tmp_path: Path) -> None:
    X = clouds().astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    on_disk = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert has_missing(on_disk)
    whole, mapped = fitted(X, "full"), fitted(on_disk, "full")
    np.testing.assert_array_equal(mapped.means_, whole.means_)
    np.testing.assert_array_equal(mapped.predict_proba(on_disk), whole.predict_proba(X))
    assert whole.means_.dtype == dtype
    pandas = pytest.importorskip("pandas")
    framed = fitted(pandas.DataFrame(X), "full", n_threads=3)
    np.testing.assert_allclose(framed.means_, whole.means_, rtol=1e-12)


def test_a_family_without_holes_agrees_with_the_fused_one() -> None:
    X = clouds(share=0.0)[2:]
    for covariance_type in TYPES:
        model = fitted(X, covariance_type)
        assert isinstance(model._fitted(missing=True)[0].family, ObservedGaussianFamily)
        holed = np.vstack([X, clouds()[1:2]])
        np.testing.assert_array_equal(model.score_samples(holed)[:-1], model.score_samples(X))
