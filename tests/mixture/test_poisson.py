"""Poisson mixtures: against the definition, and what only they promise."""

from __future__ import annotations

import mixture_twins as twins
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import poisson
from sklearn.metrics import adjusted_rand_score

from coterie import PoissonMixture


def naive_em(X, weights, log_weights, rates, alpha, n_iter):
    """EM by the definition, n x k arrays and all."""
    usual = np.maximum(weights @ X, 1) / weights.sum()
    for _ in range(n_iter):
        log_probs = log_weights + np.stack(
            [poisson.logpmf(X, own).sum(axis=1) for own in rates], axis=1
        )
        mass = twins.posterior(log_probs).resp * weights[:, np.newaxis]
        counts = mass.sum(axis=0)
        log_weights = np.log(counts / counts.sum())
        rates = (mass.T @ X + alpha) / (counts[:, np.newaxis] + alpha / usual)
    return log_weights, rates


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_em_is_that_of_the_definition(alpha, make):
    rng = np.random.RandomState(0)
    X = rng.poisson(rng.uniform(0, 9, (100, 5))).astype(float)
    weights, start = rng.uniform(0, 3, 100), rng.uniform(2, 7, (3, 5))
    first = np.array([0.2, 0.3, 0.5])
    model = PoissonMixture(3, alpha=alpha, weights_init=first, rates_init=start, max_iter=6, tol=0)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(make(X), sample_weight=weights)
    log_weights, rates = naive_em(X, weights, np.log(first), start, alpha, 6)
    np.testing.assert_allclose(model.weights_, np.exp(log_weights), rtol=1e-9)
    np.testing.assert_allclose(model.rates_, rates, rtol=1e-9)
    log_probs = log_weights + np.stack(
        [poisson.logpmf(X, own).sum(axis=1) for own in rates], axis=1
    )
    expected = twins.posterior(log_probs)
    np.testing.assert_allclose(model.score_samples(make(X)), expected.row_log_prob, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(make(X)), expected.resp, rtol=1e-7, atol=1e-15)
    last = model.set_params(warm_start=True, max_iter=1)
    with pytest.warns(UserWarning, match="did not converge"):
        last.fit(make(X), sample_weight=weights)
    total = weights @ expected.row_log_prob
    assert last.history_[0]["log_likelihood"] == pytest.approx(total, rel=1e-10)


def test_what_was_drawn_is_found_again():
    rng = np.random.RandomState(0)
    rates = np.array([[1.0, 10, 3], [8, 2, 3], [20, 20, 0.5]])
    truth = rng.choice(3, 5000, p=[0.5, 0.3, 0.2])
    model = PoissonMixture(3, random_state=0, tol=1e-7, max_iter=500).fit(rng.poisson(rates[truth]))
    order = np.argsort(-model.weights_)
    np.testing.assert_allclose(model.rates_[order], rates, rtol=0.1)
    X, labels = model.sample(2000)
    assert (np.floor(X) == X).all()
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95


def test_large_counts_in_float32():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.poisson(1e5, (50, 2)), rng.poisson(1.02e5, (50, 2))])
    double = PoissonMixture(2, random_state=0).fit(X.astype(np.float64))
    single = PoissonMixture(2, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.rates_, double.rates_, rtol=1e-6)
    np.testing.assert_allclose(
        single.score_samples(X.astype(np.float32)), double.score_samples(X), rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize(
    ("bad", "words"),
    [(-1.0, r"Negative values.* row 1, column 0 is -1"), (0.5, r"Fractions.* row 1, column 0 is")],
)
def test_what_is_no_count_is_refused(bad, words):
    X = np.array([[1.0, 2], [bad, 0], [3, 1]])
    for rows in (X, sp.csr_matrix(X)):
        with pytest.raises(ValueError, match=words):
            PoissonMixture(2).fit(rows)
    model = PoissonMixture(1).fit(np.abs(np.floor(X)))
    with pytest.raises(ValueError, match="X must hold counts"):
        model.predict(X)
