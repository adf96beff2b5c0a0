"""Near the limits of float64, and asked for too much: a valid result or one clear sentence.

Covers coterie.centroid._checked_space.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import BisectingKMeans, KMeans, MiniBatchKMeans, kmeans_plusplus


@pytest.fixture(autouse=True)
def _invariants_checked():
    with coterie.options(check_invariants=True):
        yield


@pytest.mark.parametrize("value", [1e300, -1.7e308, 5e-324, 1e15])
def test_constant_rows_have_their_value_as_centre(value):
    X = np.full((600, 2), value)
    assert np.array_equal(KMeans(1).fit(X).cluster_centers_, X[:1])
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KMeans(2, random_state=0).fit(X)
    assert np.array_equal(model.cluster_centers_[0], X[0])
    assert model.inertia_ == 0
    assert np.array_equal(MiniBatchKMeans(1, random_state=0).fit(X).cluster_centers_, X[:1])


def test_a_constant_column_of_huge_values_beside_small_ones():
    X = np.column_stack([np.full(40, 1e300), np.r_[np.zeros(20), np.ones(20)]])
    model = KMeans(2, random_state=0).fit(X)
    assert sorted(model.cluster_centers_[:, 1].tolist()) == [0.0, 1.0]
    assert (model.cluster_centers_[:, 0] == 1e300).all()
    assert np.array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("cls", [KMeans, BisectingKMeans, MiniBatchKMeans])
def test_huge_weights_are_refused(cls):
    with pytest.raises(ValueError, match=r"sample_weight has values so large \(up to 1e\+308\)"):
        cls(2).fit([[1.0], [2.0], [5.0]], sample_weight=[1e308] * 3)


@pytest.mark.parametrize("algorithm", ["lloyd", "hamerly", "yinyang"])
@pytest.mark.parametrize("far", [1e200, -1e308])
def test_given_starts_beyond_all_rows(algorithm, far):
    X = np.array([[1.0], [2.0], [5.0]])
    model = KMeans(2, init=[[far], [0.0]], algorithm=algorithm).fit(X)
    assert sorted(model.cluster_centers_.ravel().tolist()) == [1.5, 5.0]
    assert np.array_equal(model.labels_, model.predict(X))


def test_kmeans_plusplus_of_huge_rows_says_so():
    with pytest.raises(ValueError, match="kmeans_plusplus: X has values so large"):
        kmeans_plusplus([[1e308], [-1e308], [0.0]], 2)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_far_from_zero_the_objective_does_not_rise(seed, metric):
    X = 1e15 + np.random.default_rng(seed).normal(size=(3000, 2))
    model = KMeans(3, random_state=seed, metric=metric).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("n_threads", [2**17, 2**40, 2**80])
def test_more_threads_than_there_can_be(n_threads):
    with pytest.raises(ValueError, match=rf"KMeans: n_threads={n_threads}, and 65536 is the most"):
        KMeans(2, n_threads=n_threads).fit([[1.0], [2.0], [5.0]])


def test_more_threads_in_the_environment_than_there_can_be(monkeypatch):
    monkeypatch.setenv("COTERIE_NUM_THREADS", str(2**40))
    with pytest.raises(ValueError, match="COTERIE_NUM_THREADS: n_threads=1099511627776"):
        KMeans(2).fit([[1.0], [2.0], [5.0]])
