"""Bernoulli mixtures: against the definition, and what only they promise.

Covers coterie.mixture._given.
"""

from __future__ import annotations

import mixture_twins as twins
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import bernoulli
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from coterie import BernoulliMixture


def naive_em(X, weights, log_weights, theta, alpha, n_iter):
    """EM by the definition, n x k arrays and all."""
    for _ in range(n_iter):
        log_probs = log_weights + np.stack(
            [bernoulli.logpmf(X, own).sum(axis=1) for own in theta], axis=1
        )
        mass = twins.posterior(log_probs).resp * weights[:, np.newaxis]
        counts = mass.sum(axis=0)
        log_weights = np.log(counts / counts.sum())
        theta = (mass.T @ X + alpha) / (counts + 2 * alpha)[:, np.newaxis]
    return log_weights, theta


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_em_is_that_of_the_definition(alpha, make):
    rng = np.random.RandomState(0)
    X = (rng.uniform(size=(120, 7)) < 0.4).astype(float)
    weights, start = rng.uniform(0, 3, 120), rng.uniform(0.2, 0.8, (3, 7))
    first = np.array([0.2, 0.3, 0.5])
    model = BernoulliMixture(
        3, alpha=alpha, weights_init=first, probabilities_init=start, max_iter=6, tol=0
    )
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(make(X), sample_weight=weights)
    log_weights, theta = naive_em(X, weights, np.log(first), start, alpha, 6)
    np.testing.assert_allclose(model.weights_, np.exp(log_weights), rtol=1e-10)
    np.testing.assert_allclose(model.probabilities_, theta, rtol=1e-10)
    log_probs = log_weights + np.stack(
        [bernoulli.logpmf(X, own).sum(axis=1) for own in theta], axis=1
    )
    expected = twins.posterior(log_probs)
    np.testing.assert_allclose(model.score_samples(make(X)), expected.row_log_prob, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(make(X)), expected.resp, rtol=1e-8)


def test_digits_are_found():
    digits = load_digits()
    model = BernoulliMixture(10, threshold=7.5, n_init=10, random_state=0).fit(digits.data)
    assert adjusted_rand_score(digits.target, model.predict(digits.data)) > 0.5


def test_what_was_drawn_is_found_again():
    rng = np.random.RandomState(0)
    model = BernoulliMixture(3).fit(np.eye(3))
    model.weights_ = np.array([0.5, 0.3, 0.2])
    model.probabilities_ = rng.choice([0.1, 0.5, 0.9], (3, 20))
    model.random_state, model.n_features_in_ = 0, 20
    X, labels = model.sample(20_000)
    assert set(np.unique(X)) == {0, 1}
    found = BernoulliMixture(3, random_state=0, tol=1e-6, max_iter=500).fit(X)
    assert adjusted_rand_score(labels, found.predict(X)) > 0.8
    order = np.argsort(-found.weights_)
    np.testing.assert_allclose(found.weights_[order], model.weights_, atol=0.02)
    np.testing.assert_allclose(found.probabilities_[order], model.probabilities_, atol=0.05)


def test_the_prior_is_the_mode_under_a_beta():
    X = np.array([[1.0, 0], [1, 0], [1, 1]])
    model = BernoulliMixture(alpha=1).fit(X)
    np.testing.assert_allclose(model.probabilities_, [[4 / 5, 2 / 5]])
    certain = BernoulliMixture(alpha=0).fit(X)
    assert 0 < 1 - certain.probabilities_[0, 0] < 1e-15
    assert certain.score_samples([[0, 0]]) == pytest.approx(-53 * np.log(2) + np.log(2 / 3))


def test_other_values_are_refused_and_a_threshold_takes_them():
    X = np.array([[0.0, 1], [1, 0.5], [0, 1]])
    for rows in (X, sp.csr_matrix(X)):
        with pytest.raises(ValueError, match=r"row 1, column 1 is 0.5; set threshold="):
            BernoulliMixture(2).fit(rows)
    binary = BernoulliMixture(2, random_state=0).fit(X > 0.4)
    for rows in (X, sp.csr_matrix(X)):
        model = BernoulliMixture(2, threshold=0.4, random_state=0).fit(rows)
        np.testing.assert_allclose(model.probabilities_, binary.probabilities_)
        np.testing.assert_array_equal(model.predict(rows), binary.predict(X > 0.4))
    with pytest.raises(ValueError, match="would turn the zeros of a sparse X into ones"):
        BernoulliMixture(2, threshold=-1).fit(sp.csr_matrix(X))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"weights_init": [0.5, 0.6]}, "sums to 1.1"),
        ({"probabilities_init": [[0.5, 2.0], [0, 0]]}, "from 0 to 2; use values from 0 to 1"),
        ({"probabilities_init": [[0.5], [0]]}, r"shape of \(2, 2\)"),
        ({"alpha": -1}, "alpha=-1 was given"),
    ],
)
def test_wrong_starts_are_refused(params, words):
    with pytest.raises(ValueError, match=words):
        BernoulliMixture(2, **params).fit(np.eye(2))
