"""Where scikit-learn's centroid methods differ in the details, ours follow.

Covers coterie.centroid.function.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster
from sklearn.datasets import make_blobs

import coterie
from coterie import BisectingKMeans, KMeans, MiniBatchKMeans, k_means, kmeans_plusplus

X, _ = make_blobs(300, centers=4, random_state=0)


@pytest.mark.parametrize("seed", range(12))
def test_restarts_number_clusters_as_scikit_learn_does(seed):
    rows = np.round(np.random.default_rng(seed).normal(size=(6, 1)) * 70, 1)
    ours = KMeans(2, n_init=5, random_state=seed, tol=0).fit(rows)
    theirs = sklearn.cluster.KMeans(2, n_init=5, random_state=seed, tol=0).fit(rows)
    assert np.array_equal(ours.labels_, theirs.labels_)
    same = KMeans(2, n_init=3, random_state=3, tol=0)
    assert same.fit([[116.1], [92.2], [-0.9], [11.6], [-14.9]]).labels_.tolist() == [1, 1, 0, 0, 0]


def test_bisecting_takes_tol_as_it_is():
    rows = 1e-3 * np.random.default_rng(0).normal(size=(400, 2))
    for tol in (1e-4, 1e-12):
        ours = BisectingKMeans(4, random_state=0, tol=tol).fit(rows)
        theirs = sklearn.cluster.BisectingKMeans(4, random_state=0, tol=tol).fit(rows)
        assert np.array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("cls", [KMeans, MiniBatchKMeans, BisectingKMeans])
def test_weights_of_one_change_no_bit(cls):
    plain = cls(4, random_state=0).fit(X)
    weighted = cls(4, random_state=0).fit(X, sample_weight=np.ones(len(X)))
    assert np.array_equal(plain.cluster_centers_, weighted.cluster_centers_)
    assert np.array_equal(plain.labels_, weighted.labels_)
    assert plain.inertia_ == weighted.inertia_


def test_mini_batches_stop_with_the_step_that_meets_the_rule():
    rows = np.random.default_rng(0).normal(size=(20_000, 3))
    params = {"random_state": 0, "batch_size": 50, "keep": "parameters"}
    by_tol = MiniBatchKMeans(3, **params, tol=1e-4, max_no_improvement=None).fit(rows)
    assert "tol" in by_tol.events_[-1]["detail"]
    limit = 25 * 1e-4 * rows.var(axis=0).mean()
    assert by_tol.history_[-1]["shift"] <= limit
    assert by_tol.history_[-1]["iteration"] == by_tol.n_steps_
    few, _, centers = make_blobs(centers=3, random_state=0, return_centers=True)
    model = MiniBatchKMeans(
        3, init=centers, batch_size=20, tol=1e-4, max_no_improvement=None, max_iter=10,
        random_state=0,
    ).fit(few)  # fmt: skip
    assert 1 < model.n_iter_ < 10
    n_steps = []
    for max_no_improvement in (2, 5, 10):
        model = MiniBatchKMeans(3, **params, max_no_improvement=max_no_improvement).fit(rows)
        assert f"no new low in {max_no_improvement} steps" in model.events_[-1]["detail"]
        n_steps.append(model.n_steps_)
    assert n_steps == sorted(n_steps)


def test_elkan_for_one_cluster_warns():
    with pytest.warns(RuntimeWarning, match="doesn't make sense for a single cluster"):
        model = KMeans(1, algorithm="elkan").fit(X)
    assert np.array_equal(model.cluster_centers_, KMeans(1).fit(X).cluster_centers_)


def test_x_squared_norms_are_checked():
    with pytest.raises(ValueError, match=r"The length of x_squared_norms 2 should be equal to"):
        kmeans_plusplus(X, 3, x_squared_norms=np.ones(2))
    given = kmeans_plusplus(X, 3, x_squared_norms=np.square(X).sum(axis=1), random_state=0)
    assert np.array_equal(given[1], kmeans_plusplus(X, 3, random_state=0)[1])


def test_k_means_is_a_function_too():
    weights = np.linspace(0.5, 2, len(X))
    model = KMeans(4, n_init=2, random_state=1).fit(X, sample_weight=weights)
    found = k_means(X, 4, sample_weight=weights, n_init=2, random_state=1, return_n_iter=True)
    assert np.array_equal(found[0], model.cluster_centers_)
    assert np.array_equal(found[1], model.labels_)
    assert found[2:] == (model.inertia_, model.n_iter_)
    assert len(coterie.k_means(X, 4, random_state=1)) == 3
    theirs = sklearn.cluster.k_means(X, 4, random_state=1, return_n_iter=True)
    ours = k_means(X, 4, random_state=1, return_n_iter=True)
    assert np.array_equal(ours[1], theirs[1])
    np.testing.assert_allclose(ours[0], theirs[0])
