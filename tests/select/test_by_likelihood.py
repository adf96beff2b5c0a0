"""Criteria of mixtures against scikit-learn, and the weights against Bayes' formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from select_rows import four_clusters
from sklearn.mixture import GaussianMixture as Peer

from coterie import BayesianGaussianMixture, GaussianMixture
from coterie.select import choose_k
from coterie.select._by_likelihood import bic_weights

X = four_clusters()


def test_bic_and_aic_are_those_of_scikit_learn() -> None:
    mixture = GaussianMixture(random_state=0, tol=1e-8, max_iter=500)
    found = choose_k(X, mixture, [1, 2, 4], criterion=["bic", "aic", "icl"])
    for place, k in enumerate([1, 2, 4]):
        peer = Peer(k, random_state=0, n_init=5, tol=1e-8, max_iter=500).fit(X)
        assert found.curves["bic"].values[place] == pytest.approx(peer.bic(X), rel=1e-4)
        assert found.curves["aic"].values[place] == pytest.approx(peer.aic(X), rel=1e-4)
        resp = peer.predict_proba(X).max(axis=1)
        icl = peer.bic(X) - 2 * np.log(resp).sum()
        assert found.curves["icl"].values[place] == pytest.approx(icl, rel=1e-4)
    assert set(found.picks.values()) == {4}


def test_held_out_likelihood_is_a_mean_over_rows_not_seen() -> None:
    found = choose_k(X, GaussianMixture(), [1, 4], criterion="held_out", n_folds=4, random_state=0)
    curve = found.curves["held_out"]
    order = np.random.RandomState(1).permutation(len(X))
    twin = []
    for fold in np.array_split(order, 4):
        kept = np.setdiff1d(order, fold)
        twin.append(Peer(4, n_init=3, random_state=0).fit(X[kept]).score_samples(X[fold]))
    rows = np.concatenate(twin)
    # Other folds, so only close.
    assert curve.values[1] == pytest.approx(rows.mean(), abs=0.1)
    assert curve.errors[1] == pytest.approx(rows.std(ddof=1) / np.sqrt(len(X)), rel=0.2)
    assert found.k == 4


def test_held_out_likelihood_takes_the_smallest_k_as_good_as_the_best() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    found = choose_k(rows, GaussianMixture(), 4, criterion="held_out", random_state=0)
    assert found.k == 1
    in_sample = [GaussianMixture(k, random_state=0).fit(rows).score(rows) for k in (1, 4)]
    assert in_sample[1] > in_sample[0]  # what the fit has seen would have chosen more


@pytest.mark.parametrize("kind", ["dirichlet_distribution", "dirichlet_process"])
def test_the_bound_picks_the_components_that_are_used(kind: str) -> None:
    mixture = BayesianGaussianMixture(
        weight_concentration_prior_type=kind, weight_concentration_prior=1.0, random_state=0,
        max_iter=500,
    )  # fmt: skip
    found = choose_k(X, mixture, 6, criterion="bound")
    assert found.k == 4
    model = found.model
    bonus = gammaln(5) if kind == "dirichlet_distribution" else 0.0
    value = found.curves["bound"].values[3]
    assert value == pytest.approx(-model.free_energy(X) + bonus)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_weights_are_probabilities_in_the_order_of_bic(bic: list[float]) -> None:
    weights = bic_weights(bic)
    assert weights.sum() == pytest.approx(1)
    order = np.argsort(bic)
    assert (np.diff(weights[order]) <= 0).all()


def test_weights_by_hand() -> None:
    np.testing.assert_allclose(bic_weights([10.0, 10 + 2 * np.log(3), np.nan]), [0.75, 0.25, 0])
