"""Bisecting k-means: the tree, both strategies, and scikit-learn's partition.

Covers coterie.centroid._bisect.
"""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.centroid.bisecting import BisectingKMeans

WEIGHTS_ARE_NOT_COUNTS = "seeds are drawn at random, so weights do not repeat rows exactly"


@parametrize_with_checks(
    [BisectingKMeans(n_clusters=2, n_init=2, max_iter=5)],
    # The checks that scikit-learn expects its own class to fail.
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_NOT_COUNTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_ARE_NOT_COUNTS,
    },
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_sklearn_contract(estimator, check):
    check(estimator)


# Groups of groups, so that each best split is plain: two far halves, each of two pairs.
CENTRES = np.array(
    [[0, 0], [0, 10], [30, 0], [30, 12], [1000, 0], [1000, 40], [1300, 0], [1300, 50]]
)


def grouped(n=800, seed=0, dtype=np.float64):
    X, y = make_blobs(n, centers=CENTRES.astype(float), cluster_std=0.5, random_state=seed)
    return X.astype(dtype), y


def blobs(n=1000, d=6, k=9, dtype=np.float64):
    return make_blobs(n, d, centers=k, cluster_std=3.0, random_state=0)[0].astype(dtype)


def walk(model, X):
    """The leaf of each row, by going down the tree in plain NumPy."""
    leaves = np.flatnonzero(model.tree_children_[:, 0] < 0)
    labels = []
    for x in X.astype(np.float64):
        node = 0
        while node not in leaves:
            halves = model.tree_children_[node]
            sq_dists = ((x - model.tree_centers_[halves].astype(np.float64)) ** 2).sum(axis=1)
            node = halves[sq_dists.argmin()]
        labels.append(np.searchsorted(leaves, node))
    return np.array(labels)


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, np.asfortranarray])
def test_labels_are_what_predict_and_the_tree_say(strategy, form):
    X = blobs(dtype=np.float32)
    model = BisectingKMeans(9, random_state=0, bisecting_strategy=strategy).fit(form(X))
    np.testing.assert_array_equal(model.labels_, model.predict(form(X)))
    np.testing.assert_array_equal(model.labels_, walk(model, X))
    fresh = np.random.RandomState(1).uniform(-15, 15, size=(200, 6)).astype(np.float32)
    np.testing.assert_array_equal(model.predict(form(fresh)), walk(model, fresh))
    errors = X.astype(np.float64) - model.cluster_centers_[model.labels_]
    assert model.inertia_ == pytest.approx((errors**2).sum(), rel=1e-12)
    assert model.cluster_centers_.dtype == np.float32
    assert model.labels_.dtype == np.int32
    assert set(model.labels_) == set(range(9))
    leaves = model.tree_children_[:, 0] < 0
    np.testing.assert_array_equal(model.tree_centers_[leaves], model.cluster_centers_)


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
@pytest.mark.parametrize("n_clusters", [1, 2, 4, 8])
def test_same_partition_as_sklearn_where_clusters_are_plain(strategy, n_clusters):
    X, _ = grouped()
    # All settings that let 2-means find the one good split.
    params = {"n_init": 10, "init": "k-means++", "random_state": 0, "bisecting_strategy": strategy}
    ours = BisectingKMeans(n_clusters, **params).fit(X)
    theirs = sklearn.cluster.BisectingKMeans(n_clusters, **params).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert [tuple(c) for c in np.sort(ours.cluster_centers_, axis=0)] == [
        pytest.approx(tuple(c)) for c in np.sort(theirs.cluster_centers_, axis=0)
    ]


def test_label_numbering_is_sklearns():
    X, _ = grouped()
    starts = {}

    def first_and_farthest(X, k, random_state):
        # The same start for both libraries; scikit-learn centres the rows first.
        far = np.argmax(((X - X[0]) ** 2).sum(axis=1))
        starts[len(X)] = True
        return X[[0, far]]

    ours = BisectingKMeans(8, init=first_and_farthest).fit(X)
    theirs = sklearn.cluster.BisectingKMeans(8, init=first_and_farthest).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert len(starts) > 1


def test_strategies_choose_differently():
    rng = np.random.RandomState(0)
    many = rng.normal(0, 1, size=(900, 1))
    wide = rng.normal(1000, 30, size=(20, 1))
    X = np.vstack([many, wide])
    by_sse = BisectingKMeans(3, random_state=0, n_init=3).fit(X)
    by_size = BisectingKMeans(3, random_state=0, n_init=3, bisecting_strategy="largest_cluster")
    by_size.fit(X)
    assert np.unique(by_sse.labels_[900:]).size == 2
    assert np.unique(by_size.labels_[900:]).size == 1
    assert np.unique(by_size.labels_[:900]).size == 2


def test_every_split_lowers_the_sse():
    model = BisectingKMeans(12, random_state=0, keep="parameters").fit(blobs())
    objectives = [entry["objective_update"] for entry in model.history_]
    assert len(objectives) == 11
    assert (np.diff(objectives) < 0).all()
    assert objectives[-1] == pytest.approx(model.inertia_, rel=1e-9)
    assert [len(entry["parameters"]) for entry in model.history_] == list(range(2, 13))


@pytest.mark.parametrize("algorithm", ["auto", "hamerly", "yinyang", "elkan"])
def test_algorithms_agree(algorithm):
    X = blobs()
    plain = BisectingKMeans(7, random_state=0).fit(X)
    other = BisectingKMeans(7, random_state=0, algorithm=algorithm).fit(X)
    np.testing.assert_array_equal(plain.labels_, other.labels_)
    np.testing.assert_array_equal(plain.cluster_centers_, other.cluster_centers_)


def test_same_bits_for_any_number_of_threads():
    X = blobs(20_000, dtype=np.float32)
    fits = [BisectingKMeans(9, random_state=0, n_threads=n).fit(X) for n in (1, 2, 3, 4)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
        np.testing.assert_array_equal(fit.tree_centers_, fits[0].tree_centers_)
        assert fit.inertia_ == fits[0].inertia_


@pytest.mark.parametrize(
    "init", ["k-means++", "random", "random-labels", "box", "farthest-first", "k-means||"]
)
def test_every_seeding(init):
    X, y = grouped()
    model = BisectingKMeans(8, init=init, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.7


def test_best_of_several_runs_is_kept():
    X = blobs()
    one = BisectingKMeans(2, random_state=0, max_iter=1, n_init=1).fit(X)
    many = BisectingKMeans(2, random_state=0, max_iter=1, n_init=20).fit(X)
    assert many.inertia_ < one.inertia_


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_duplicates_end_with_fewer_clusters(strategy):
    X = np.repeat([[0.1, 0.2], [0.3, 0.7], [5.0, 1.0]], 10, axis=0)
    model = BisectingKMeans(6, random_state=0, bisecting_strategy=strategy)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(3\)"):
        model.fit(X)
    assert len(model.cluster_centers_) == 3
    assert model.events_[-1]["what"] == "fewer clusters"
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert np.unique(np.c_[model.labels_, X], axis=0).shape == (3, 3)
    assert model.transform(X).shape == (30, 3)
    with pytest.warns(ConvergenceWarning):
        same = BisectingKMeans(3, random_state=0).fit(np.ones((5, 2)))
    assert same.inertia_ == 0


def test_as_many_clusters_as_rows():
    X = np.random.RandomState(0).normal(size=(12, 2))
    model = BisectingKMeans(12, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(12))
    np.testing.assert_allclose(model.cluster_centers_[model.labels_], X)
    with pytest.raises(ValueError, match="n_samples=12 should be >= n_clusters=13"):
        BisectingKMeans(13).fit(X)


def test_one_cluster_is_the_weighted_mean():
    X = blobs()
    weights = np.random.RandomState(0).uniform(size=len(X))
    model = BisectingKMeans(1).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.cluster_centers_[0], np.average(X, axis=0, weights=weights))
    assert not model.labels_.any()


def test_weights_move_centres_and_zero_weights_do_not():
    X, y = grouped()
    weights = np.where(y == 3, 0.0, 1.0 + y)
    model = BisectingKMeans(2, random_state=0, n_init=5).fit(X, sample_weight=weights)
    for half in (0, 1):
        mine = model.labels_ == half
        mean = np.average(X[mine], axis=0, weights=weights[mine])
        np.testing.assert_allclose(model.cluster_centers_[half], mean, rtol=1e-6)
    far = np.vstack([X, [[1e7, 1e7]]])
    one_more = BisectingKMeans(2, random_state=0, n_init=5)
    one_more.fit(far, sample_weight=np.r_[weights, 0])
    assert np.abs(one_more.cluster_centers_).max() < 1e4


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_extreme_scales(scale):
    X, y = grouped(dtype=np.float32)
    params = {"n_init": 10, "init": "k-means++", "random_state": 0}
    model = BisectingKMeans(8, **params).fit((X * np.float32(scale)).astype(np.float32))
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_deep_trees_do_not_recurse():
    X = (2.0 ** np.arange(0, 700, 1))[:, np.newaxis] * 1e-100
    model = BisectingKMeans(300, random_state=0, init="farthest-first").fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_other_dtypes(dtype):
    X = blobs().astype(dtype)
    model = BisectingKMeans(4, random_state=0).fit(X)
    same = BisectingKMeans(4, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_array_equal(model.labels_, same.labels_)


def test_memory_map_gives_the_same(tmp_path):
    X = blobs(dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = BisectingKMeans(5, random_state=0).fit(mapped)
    same = BisectingKMeans(5, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_array_equal(model.predict(mapped), same.labels_)


def test_callback_stops():
    model = BisectingKMeans(9, random_state=0, callback=lambda progress: progress.iteration == 3)
    model.fit(blobs())
    assert len(model.cluster_centers_) == 4
    assert model.events_[-1]["what"] == "stopped"


@pytest.mark.parametrize(
    ("param", "value"),
    [("n_clusters", 0), ("bisecting_strategy", "smallest"), ("init", np.zeros((2, 2))),
     ("n_init", "auto"), ("algorithm", "fast")],
)  # fmt: skip
def test_refused_parameters(param, value):
    with pytest.raises(ValueError, match=f"BisectingKMeans: {param}="):
        BisectingKMeans(**{param: value}).fit(blobs())


def test_damaged_trees_are_refused():
    model = BisectingKMeans(4, random_state=0).fit(blobs())
    model._check_loaded()
    good = model.tree_children_
    inner = np.flatnonzero(good[:, 0] >= 0)
    for node, value in ((inner[-1], (0, 0)), (inner[0], (1, 1)), (inner[0], (5, 99))):
        model.tree_children_ = good.copy()
        model.tree_children_[node] = value
        with pytest.raises(ValueError, match="not a tree"):
            model._check_loaded()
    # Every node but the first is a half, but 1 and 4 are each other's.
    model.tree_children_ = np.full((7, 2), -1, dtype=np.int32)
    model.tree_children_[[0, 1, 4]] = [[2, 3], [4, 5], [1, 6]]
    with pytest.raises(ValueError, match="not a tree"):
        model._check_loaded()
    model.tree_children_ = good[:-1]
    with pytest.raises(ValueError, match="tree_children_ has shape"):
        model._check_loaded()
