"""Fits along k: never worse with more clusters, one tree for all, starts grown from fewer.

Covers coterie.select._grow, coterie.select._label_starts and coterie.select._quiet_fit.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from select_rows import four_clusters
from sklearn.exceptions import ConvergenceWarning

from coterie import AgglomerativeClustering, GaussianMixture, KMeans, StudentTMixture
from coterie.select._fits import OneByOne, OneTree, fits_along, grow, seeded
from coterie.select._grow import add_centers, halved, start_at, with_halves
from coterie.select._label_starts import KMeansStarts, TreeStarts, label_starts


def quiet(what: str, k: int) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("seed", range(5))
def test_errors_of_k_means_never_rise_along_k(seed: int) -> None:
    X = four_clusters(seed=seed)
    poor = KMeans(init="random", n_init=1, random_state=seed)
    for rows in (X, pd.DataFrame(X, columns=["a", "b"])):
        fits = fits_along(poor, rows, range(1, 13), quiet)
        errors = [fits.model(k).inertia_ for k in range(1, 13)]
        assert (np.diff(errors) < 0).all()


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_the_likelihood_of_mixtures_never_falls_along_k(covariance_type: str) -> None:
    X = four_clusters(spread=0.6)
    mixture = GaussianMixture(
        covariance_type=covariance_type, random_state=0, tol=1e-6, max_iter=500
    )
    fits = fits_along(mixture, X, range(1, 6), quiet)
    bounds = [fits.model(k).score(X) for k in range(1, 6)]
    assert (np.diff(bounds) > -1e-6).all()


def test_a_model_from_a_grown_start_keeps_the_parameters_that_were_asked_for() -> None:
    X = four_clusters()
    before = KMeans(2, random_state=0).fit(X)
    grown = grow(before, KMeans(3, n_init=2, random_state=0), X)
    assert (grown.init, grown.n_init, grown.n_clusters) == ("k-means++", 2, 3)
    assert grown.labels_.max() == 2
    mixture = GaussianMixture(2, random_state=0).fit(X)
    grown = grow(mixture, GaussianMixture(3, n_init=4, max_iter=77, random_state=0), X)
    assert grown.means_init is None
    assert (grown.n_init, grown.max_iter, len(grown.weights_)) == (4, 77, 3)


def test_given_starts_are_not_replaced() -> None:
    X = four_clusters()
    before = GaussianMixture(2, random_state=0).fit(X)
    assert grow(before, GaussianMixture(3, means_init=X[:3]), X) is None
    assert grow(KMeans(2, random_state=0).fit(X), KMeans(3, init=X[:3]), X) is None


def test_one_tree_serves_every_cut() -> None:
    X = four_clusters()
    ticks: list[int] = []
    fits = fits_along(AgglomerativeClustering(), X, range(1, 7), lambda what, k: ticks.append(k))
    assert isinstance(fits, OneTree)
    for k in range(1, 7):
        alone = AgglomerativeClustering(k).fit(X)
        np.testing.assert_array_equal(fits.labels(k), alone.labels_)
        np.testing.assert_array_equal(fits.assign(k, X[::3] + 0.1), alone.predict(X[::3] + 0.1))
    assert ticks == [6]


def test_every_model_is_made_once_and_in_rising_order() -> None:
    made: list[int] = []
    fits = fits_along(
        KMeans(random_state=0), four_clusters(), (2, 3, 5), lambda _, k: made.append(k)
    )
    assert isinstance(fits, OneByOne)
    fits.labels(5), fits.labels(2), fits.model(3)
    assert made == [2, 3, 5]


def test_only_missing_seeds_are_given() -> None:
    rng = np.random.RandomState(0)
    assert seeded(KMeans(), rng).random_state is not None
    assert seeded(KMeans(random_state=7), rng).random_state == 7
    assert not hasattr(seeded(AgglomerativeClustering(), rng), "labels_")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 100))
def test_added_centres_are_rows_that_were_none(k: int, n_more: int, seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, 5, size=(40, 2)).astype(float)
    centers = np.unique(X, axis=0)[:k]
    grown = add_centers(X, centers, n_more, np.random.RandomState(seed))
    if grown is None:
        assert len(np.unique(X, axis=0)) < len(centers) + n_more
        return
    np.testing.assert_array_equal(grown[: len(centers)], centers)
    assert len(np.unique(grown, axis=0)) == len(centers) + n_more
    assert all((row == X).all(axis=1).any() for row in grown)


def test_there_is_no_centre_to_add_where_all_rows_are_alike() -> None:
    assert add_centers(np.ones((5, 2)), np.ones((1, 2)), 1, np.random.RandomState(0)) is None


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("family", [GaussianMixture, StudentTMixture])
def test_a_split_keeps_the_weight_and_the_mean(family: type, covariance_type: str) -> None:
    X = four_clusters()
    model = family(3, covariance_type=covariance_type, random_state=0).fit(X)
    halves = halved(model)
    assert halves.means_.shape == (6, 2)
    for j in range(3):
        grown = with_halves(model, halves, j)
        assert grown.weights_.sum() == pytest.approx(1)
        np.testing.assert_allclose(grown.weights_[2:], model.weights_[j] / 2)
        np.testing.assert_allclose(grown.means_[2:].mean(axis=0), model.means_[j])
        assert np.ptp(grown.means_[2:], axis=0).max() > 0
        kept = np.delete(model.means_, j, axis=0)
        np.testing.assert_array_equal(grown.means_[:2], kept)
        start = start_at(grown)
        family(4, covariance_type=covariance_type, **start._asdict(), max_iter=5, tol=1.0).fit(X)
        again = family(4, covariance_type=covariance_type, **start._asdict(), max_iter=1)
        with pytest.warns(ConvergenceWarning):
            likelihood = again.fit(X).lower_bound_
        if family is GaussianMixture:  # which has no degrees of freedom to begin with
            assert grown.score(X) == pytest.approx(likelihood, abs=1e-3)
    assert model.means_.shape == (3, 2)


def test_a_shared_covariance_loses_what_is_between_the_halves() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([-4, 0], 1, (300, 2)), rng.normal([4, 0], 1, (300, 2))])
    one = GaussianMixture(1, covariance_type="tied").fit(X)
    two = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    grown = with_halves(one, two, 0)
    np.testing.assert_allclose(grown.covariances_, two.covariances_, atol=0.02)
    identity = grown.precisions_ @ grown.covariances_
    np.testing.assert_allclose(identity, np.eye(2), atol=1e-8)
    two.means_ = two.means_ * 10  # halves farther apart than the rows are
    assert (np.linalg.eigvalsh(with_halves(one, two, 0).covariances_) > 0).all()


def test_growth_with_next_to_no_rows() -> None:
    X = np.array([[0.0], [1.0], [2.1], [3.3], [7.0]])
    mixture = GaussianMixture(covariance_type="spherical", reg_covar="auto", random_state=0)
    fits = fits_along(mixture, X, range(1, 6), quiet)
    assert [len(fits.model(k).weights_) for k in range(1, 6)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_a_tree_gives_starts_near_its_clusters(covariance_type: str) -> None:
    X = four_clusters() * [1.0, 100.0]
    start = TreeStarts(X).start(4, covariance_type)
    expected = four_clusters().reshape(4, 40, 2).mean(axis=1) * [1.0, 100.0]
    found = start.means_init[np.argsort(start.means_init[:, 0])]
    np.testing.assert_allclose(found, expected[np.argsort(expected[:, 0])])
    np.testing.assert_allclose(start.weights_init, 0.25)
    shapes = {"full": (4, 2, 2), "tied": (2, 2), "diag": (4, 2), "spherical": (4,)}
    assert start.precisions_init.shape == shapes[covariance_type]


def test_clusters_of_one_row_have_a_start_too() -> None:
    X = np.column_stack([np.arange(6.0), np.zeros(6)])
    start = TreeStarts(X).start(6, "full")
    assert np.isfinite(start.precisions_init).all()
    assert (np.linalg.eigvalsh(start.precisions_init) > 0).all()


def test_starts_are_for_tables_of_finite_numbers() -> None:
    assert label_starts(np.array([[np.nan, 1.0], [0.0, 1.0]]), 0, 1) == ()
    assert label_starts(np.array([[1e200, 1.0], [0.0, 1.0]]), 0, 1) == ()
    assert label_starts(np.array([["a"], ["b"]]), 0, 1) == ()
    assert label_starts("rows.csv", 0, 1) == ()
    kinds = [type(own) for own in label_starts(np.arange(12).reshape(6, 2), 0, 2)]
    assert kinds == [KMeansStarts, KMeansStarts, TreeStarts]
    many = label_starts(np.zeros((4000, 1)), 0, 1)
    assert [type(own) for own in many] == [KMeansStarts]


def test_k_means_makes_no_start_with_an_empty_cluster() -> None:
    starts = KMeansStarts(np.array([[0.0], [0.0], [1.0]]), 0)
    assert starts.start(3, "full") is None
    start = starts.start(2, "diag")
    assert start is not None
    np.testing.assert_allclose(np.sort(start.means_init[:, 0]), [0, 1])
