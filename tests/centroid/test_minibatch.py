"""Mini-batch k-means against the formula, against scikit-learn, and against itself.

Covers coterie.centroid._local_search.
"""

import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.centroid._local_search import Swaps, improve_seeds
from coterie.centroid._minibatch import Plateau, RunningMeans, reassign, take_steps
from coterie.centroid._passes import choose_space
from coterie.centroid.minibatch import MiniBatchKMeans
from coterie.data import as_source

WEIGHTS_ARE_NOT_COUNTS = "batches are drawn at random, so weights do not repeat rows exactly"


@parametrize_with_checks(
    [MiniBatchKMeans(n_clusters=2, n_init=2, max_iter=5, batch_size=10)],
    # The checks that scikit-learn expects its own class to fail.
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_NOT_COUNTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_ARE_NOT_COUNTS,
    },
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_sklearn_contract(estimator, check):
    check(estimator)


def blobs(n=600, d=5, k=6, seed=0, dtype=np.float64):
    X, _ = make_blobs(n, d, centers=k, cluster_std=1.5, random_state=seed)
    return X.astype(dtype)


def naive_step(X, weights, centers, counts, forget=0.0):
    """The textbook's step; returns the batch's SSE before the move and the squared move."""
    sq_dists = ((X[:, None, :] - centers[None]) ** 2).sum(axis=2)
    labels = sq_dists.argmin(axis=1)
    inertia = (weights * sq_dists.min(axis=1)).sum()
    before = centers.copy()
    for j in range(len(centers)):
        w = weights[labels == j]
        if w.sum() > 0:
            counts[j] += w.sum()
            rate = (1 + forget) / (counts[j] + forget * w.sum())
            centers[j] += rate * (w[:, None] * (X[labels == j] - centers[j])).sum(axis=0)
    return inertia, ((centers - before) ** 2).sum()


@pytest.mark.parametrize("forget", [0.0, 4.0])
@pytest.mark.parametrize("d", [1, 3, 16, 21])
@pytest.mark.parametrize("form", ["float64", "float32", "fortran", "csr"])
def test_steps_are_the_formula(forget, d, form):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, d))
    weights = rng.randint(0, 4, size=300).astype(float)
    rows = {
        "float64": X,
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "csr": sp.csr_matrix(np.where(np.abs(X) > 1, X, 0)),
    }[form]
    dense = np.asarray(rows.toarray() if form == "csr" else rows, dtype=np.float64)
    blocks = as_source(rows, None, 2)
    row_ids = rng.randint(300, size=(7, 90))
    means = RunningMeans(dense[:8].copy(), np.zeros(8))
    centers, counts = dense[:8].copy(), np.zeros(8)
    steps = take_steps(
        blocks, choose_space(blocks)[1], means, row_ids, weights=weights, forget=forget
    )
    expected = [naive_step(dense[ids], weights[ids], centers, counts, forget) for ids in row_ids]
    np.testing.assert_allclose(means.centers, centers, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(means.counts, counts)
    np.testing.assert_allclose(np.c_[steps.inertias, steps.sq_moves], expected, rtol=1e-11)


def test_partial_fit_is_the_running_mean():
    X = blobs()
    weights = np.random.RandomState(1).uniform(0, 3, size=len(X))
    centers, counts = X[:6].copy(), np.zeros(6)
    model = MiniBatchKMeans(6, init=X[:6], reassignment_ratio=0)
    for batch in np.array_split(np.arange(len(X)), 7):
        model.partial_fit(X[batch], sample_weight=weights[batch])
        naive_step(X[batch], weights[batch], centers, counts)
        np.testing.assert_array_equal(model.labels_, model.predict(X[batch]))
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-12)
    np.testing.assert_allclose(model.counts_, counts, rtol=1e-14)
    assert model.n_steps_ == 7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_partial_fit_is_sklearns(dtype, sparse):
    X = blobs(dtype=dtype)
    form = sp.csr_matrix if sparse else np.asarray
    ours = MiniBatchKMeans(6, init=X[:6], reassignment_ratio=0)
    theirs = sklearn.cluster.MiniBatchKMeans(6, init=X[:6], reassignment_ratio=0, n_init=1)
    for batch in np.array_split(X, 5):
        ours.partial_fit(form(batch))
        theirs.partial_fit(form(batch))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=tolerance)
    assert ours.cluster_centers_.dtype == dtype
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-4)


def test_partial_fit_keeps_digits_between_float32_batches():
    # The running mean of many equal values next to one outlier needs more than float32 has.
    model = MiniBatchKMeans(1, init=np.zeros((1, 1)), reassignment_ratio=0)
    model.partial_fit(np.full((100_000, 1), 1.0, dtype=np.float32))
    for _ in range(200):
        model.partial_fit(np.array([[1.001]], dtype=np.float32))
    assert model.cluster_centers_[0, 0] == np.float32(1 + 0.001 * 200 / 100_200)


def test_partial_fit_continues_fit():
    X = blobs()
    model = MiniBatchKMeans(6, random_state=0).fit(X)
    before, n_steps = model.counts_.sum(), model.n_steps_
    model.partial_fit(X[:50])
    assert model.counts_.sum() == before + 50
    assert model.n_steps_ == n_steps + 1


def test_partial_fit_obeys_centres_set_by_hand():
    X = blobs()
    model = MiniBatchKMeans(2, reassignment_ratio=0, random_state=0).partial_fit(X)
    model.cluster_centers_ = model.cluster_centers_ + 100
    moved = model.cluster_centers_.copy()
    model.partial_fit(X[:1])
    assert np.abs(model.cluster_centers_ - moved).max() < 5


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_for_any_number_of_threads(sparse, dtype):
    X = blobs(20_000, 17, 30, dtype=dtype)
    if sparse:
        X = sp.csr_matrix(np.where(np.abs(X) > 5, X, 0))
    fits = [
        MiniBatchKMeans(30, random_state=3, batch_size=1000, n_threads=n, max_iter=2).fit(X)
        for n in (1, 2, 3, 4, 2)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.cluster_centers_, fits[0].cluster_centers_)
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
        assert fit.inertia_ == fits[0].inertia_
        assert fit.n_steps_ == fits[0].n_steps_


@pytest.mark.parametrize("weighted", [False, True])
def test_published_values_agree(weighted):
    X = blobs(3000, dtype=np.float32)
    weights = np.random.RandomState(0).uniform(0, 2, size=len(X)) if weighted else None
    model = MiniBatchKMeans(8, random_state=0, batch_size=200).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    errors = X.astype(np.float64) - model.cluster_centers_[model.labels_]
    sse = ((errors**2).sum(axis=1) * (1 if weights is None else weights)).sum()
    assert model.inertia_ == pytest.approx(sse, rel=1e-12)
    assert model.cluster_centers_.dtype == np.float32
    assert model.labels_.dtype == np.int32
    assert model.n_iter_ == int(np.ceil(model.n_steps_ * 200 / 3000))


def test_without_labels_inertia_is_an_estimate():
    X = blobs(5000)
    exact = MiniBatchKMeans(6, random_state=0).fit(X)
    quick = MiniBatchKMeans(6, random_state=0, compute_labels=False).fit(X)
    assert not hasattr(quick, "labels_")
    np.testing.assert_array_equal(quick.cluster_centers_, exact.cluster_centers_)
    assert quick.inertia_ == pytest.approx(exact.inertia_, rel=0.2)
    assert not hasattr(exact.set_params(compute_labels=False).fit(X), "labels_")


@pytest.mark.parametrize("spread", [2.0, 8.0])
def test_sse_is_not_higher_than_sklearns(spread):
    X, _ = make_blobs(6000, 8, centers=20, cluster_std=spread, random_state=0)
    params = {"n_clusters": 20, "batch_size": 256}
    ours = [MiniBatchKMeans(**params, random_state=s).fit(X).inertia_ for s in range(12)]
    theirs = [
        sklearn.cluster.MiniBatchKMeans(**params, random_state=s).fit(X).inertia_ for s in range(12)
    ]
    assert np.mean(ours) <= np.mean(theirs)


@pytest.mark.parametrize("sparse", [False, True])
def test_local_search_finds_clusters_without_a_seed(sparse):
    X, _ = make_blobs(500, 3, centers=8, cluster_std=0.1, random_state=1)
    weights = np.random.RandomState(0).uniform(0.5, 2, size=500)
    blocks = as_source(sp.csr_matrix(X) if sparse else X, weights)
    start = X[:8] * 0 + X[0] + np.arange(8)[:, np.newaxis] * 1e-3

    def sse(centers):
        return (weights * ((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1)).sum()

    space = choose_space(blocks)[1]
    rng = np.random.RandomState(0)
    costs = [sse(start)]
    for _ in range(30):
        start = improve_seeds(blocks, space, start, rng, n_tries=1)
        costs.append(sse(start))
    assert (np.diff(costs) <= 1e-9 * costs[0]).all()
    assert costs[-1] < 1e-3 * costs[0]
    # Many tries in one go find what one at a time do: the distances were kept up to date.
    once = improve_seeds(
        blocks, space, X[:8] * 0 + X[0] + np.arange(8)[:, np.newaxis] * 1e-3,
        np.random.RandomState(0), n_tries=30,
    )  # fmt: skip
    np.testing.assert_array_equal(once, start)


def test_swaps_keep_the_two_nearest_seeds():
    X = np.random.RandomState(0).normal(size=(400, 2))
    blocks = as_source(X)
    swaps = Swaps(blocks, choose_space(blocks)[1], X[:10])
    rng = np.random.RandomState(0)
    n_swapped = sum(swaps.try_one(rng) is not None for _ in range(40))
    assert n_swapped > 5
    sq_dists = ((swaps.rows[:, None] - swaps.seeds[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(
        np.c_[swaps.nearest, swaps.second], np.argsort(sq_dists, axis=1)[:, :2]
    )
    np.testing.assert_allclose(
        np.c_[swaps.sq_nearest, swaps.sq_second], np.sort(sq_dists, axis=1)[:, :2], atol=1e-14
    )


@pytest.mark.parametrize(
    "init", ["k-means++", "random", "random-labels", "box", "farthest-first", "k-means||"]
)
def test_every_seeding(init):
    X = blobs(2000)
    model = MiniBatchKMeans(6, init=init, random_state=0, batch_size=100).fit(X)
    assert model.inertia_ < 0.6 * ((X - X.mean(axis=0)) ** 2).sum()


def test_given_and_called_init():
    X = blobs()
    given = MiniBatchKMeans(6, init=X[:6], random_state=0).fit(X)
    called = MiniBatchKMeans(
        6, init=lambda X, k, random_state: given.cluster_centers_, random_state=0, n_init=1
    ).fit(X)
    assert called.inertia_ <= given.inertia_ * 1.01
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        MiniBatchKMeans(6, init=X[:6], n_init=4).fit(X)
    with pytest.raises(ValueError, match="does not match the number of clusters"):
        MiniBatchKMeans(5, init=X[:6]).fit(X)


def test_more_seedings_are_judged_by_sse():
    X = blobs(2000)
    calls = iter([X[:6], X[[0] * 6], X[[1] * 6]])
    seen = []

    def init(X, k, random_state):
        seen.append(next(calls))
        return seen[-1]

    MiniBatchKMeans(6, init=init, max_iter=1, random_state=0).fit(X)
    assert len(seen) == 3


def test_init_size_below_n_clusters_warns():
    with pytest.warns(RuntimeWarning, match="init_size=3 should be larger"):
        MiniBatchKMeans(6, init_size=3, random_state=0).fit(blobs())


def test_rows_without_weight_are_never_used():
    X = blobs(400)
    X[200:] += 1e6
    weights = np.r_[np.ones(200), np.zeros(200)]
    model = MiniBatchKMeans(4, random_state=0, batch_size=50).fit(X, sample_weight=weights)
    assert np.abs(model.cluster_centers_).max() < 1e3


def test_weights_draw_rows_in_proportion():
    X = np.array([[0.0], [1.0]]).repeat(500, axis=0)
    weights = np.r_[np.ones(500), np.full(500, 3.0)]
    model = MiniBatchKMeans(1, random_state=0, batch_size=500, max_iter=50, max_no_improvement=None)
    model.fit(X, sample_weight=weights)
    assert model.cluster_centers_[0, 0] == pytest.approx(0.75, abs=0.02)


def test_fewer_rows_than_a_batch_and_as_many_clusters_as_rows():
    X = np.arange(7.0)[:, np.newaxis] ** 2
    model = MiniBatchKMeans(7, random_state=0).fit(X)
    assert model.inertia_ < 0.5 * ((X - X.mean()) ** 2).sum()
    few = MiniBatchKMeans(2, random_state=0).fit(X)
    assert set(few.labels_) == {0, 1}
    with pytest.raises(ValueError, match="n_samples=7 should be >= n_clusters=8"):
        MiniBatchKMeans(8).fit(X)


def test_duplicates():
    X = np.zeros((100, 3))
    model = MiniBatchKMeans(5, random_state=0).fit(X)
    assert model.inertia_ == 0
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e4])
def test_extreme_scales(scale):
    X = blobs(1000).astype(np.float32)
    scaled = (X * np.float32(scale)).astype(np.float32)
    plain = MiniBatchKMeans(6, random_state=0).fit(X)
    model = MiniBatchKMeans(6, random_state=0).fit(scaled)
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_ * scale, rtol=1e-3)


def test_large_offset():
    X = blobs(2000)
    shifted = (X + 1e6).astype(np.float64)
    plain = MiniBatchKMeans(6, random_state=0).fit(X)
    model = MiniBatchKMeans(6, random_state=0).fit(shifted)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.uint8])
def test_other_dtypes(dtype):
    X = np.abs(blobs()).astype(dtype)
    model = MiniBatchKMeans(4, random_state=0).fit(X)
    same = MiniBatchKMeans(4, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_allclose(model.cluster_centers_, same.cluster_centers_, rtol=1e-3)


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_map_gives_the_same(tmp_path, order):
    X = np.asarray(blobs(3000, dtype=np.float32), order=order)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = MiniBatchKMeans(6, random_state=0, batch_size=128).fit(mapped)
    same = MiniBatchKMeans(6, random_state=0, batch_size=128).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, same.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert model.inertia_ == pytest.approx(same.inertia_)


def test_sparse_rows_give_what_dense_rows_give():
    X = blobs(2000)
    X[np.abs(X) < 3] = 0
    dense = MiniBatchKMeans(6, random_state=0, batch_size=128).fit(X)
    model = MiniBatchKMeans(6, random_state=0, batch_size=128).fit(sp.csr_matrix(X))
    np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, dense.labels_)


def test_a_stray_centre_is_reassigned():
    X = blobs(2000)
    init = np.vstack([X[:5], np.full((1, 5), 1e3)])
    model = MiniBatchKMeans(6, init=init, random_state=0, batch_size=100).fit(X)
    assert np.abs(model.cluster_centers_).max() < 100
    assert "reassigned" in [event["what"] for event in model.events_]
    kept = MiniBatchKMeans(6, init=init, random_state=0, reassignment_ratio=0).fit(X)
    np.testing.assert_array_equal(kept.cluster_centers_[5], init[5])
    partial = MiniBatchKMeans(6, init=init, random_state=0).partial_fit(X)
    assert np.abs(partial.cluster_centers_).max() < 100
    assert [event["what"] for event in partial.events_] == ["reassigned"]


def test_reassignment_uses_half_the_batch_and_spares_the_heaviest():
    X = np.arange(40.0)[:, np.newaxis]
    counts = np.array([100.0, 0.3, 0.2, 0.1, 0.4, 50])
    means = RunningMeans(np.full((6, 1), -1.0), counts.copy())
    n_moved = reassign(means, as_source(X), np.arange(10, 14), 0.01, np.random.RandomState(0))
    assert n_moved == 2
    assert set(np.flatnonzero(means.centers[:, 0] != -1)) == {2, 3}
    assert set(means.centers[[2, 3], 0]) < {10.0, 11.0, 12.0, 13.0}
    np.testing.assert_array_equal(means.counts, [100, 0.3, 0.3, 0.3, 0.4, 50])
    assert reassign(means, as_source(X), np.arange(40), 5.0, np.random.RandomState(0)) == 5


def test_steps_return_when_a_count_is_low():
    X = np.r_[np.zeros((500, 1)), [[9.0]]]
    blocks = as_source(X)
    means = RunningMeans(np.array([[0.0], [9.0]]), np.array([1.0, 1.0]))
    row_ids = np.zeros((50, 10), dtype=np.int64)
    steps = take_steps(blocks, choose_space(blocks)[1], means, row_ids, low_ratio=0.02)
    # Looked at every second step, since 20 rows pass in two: 1 < 0.02 * (1 + 10 s) at s = 6.
    assert steps.inertias.size == 6
    assert means.just_checked


def test_plateau_by_hand():
    plateau = Plateau(memory=0.5, tol=0, max_no_improvement=2)
    # Smoothed from the second on: 8, 6, 6.5, 6.25 -> no new low after 6.
    answers = [plateau.why_stop(value, 1.0) for value in (100.0, 8.0, 4.0, 7.0, 6.0)]
    assert answers[:4] == [None] * 4
    assert "no new low in 2 steps" in answers[4]
    assert plateau.inertia == 6.25
    patient = Plateau(memory=1, tol=0, max_no_improvement=None)
    assert all(patient.why_stop(1.0, 0.0) is None for _ in range(50))
    mover = Plateau(memory=0.5, tol=1.0, max_no_improvement=None)
    # The first step tells of the seeds; after it the move of one step decides.
    answers = [mover.why_stop(1.0, move) for move in (0.0, 4.0, 1.5, 1.0)]
    assert answers[:3] == [None] * 3
    assert "tol" in answers[3]


def test_how_the_steps_end():
    X = blobs(2000)
    by_plateau = MiniBatchKMeans(6, random_state=0, batch_size=100).fit(X)
    assert by_plateau.events_[-1]["what"] == "settled"
    assert by_plateau.n_steps_ < 2000
    at_the_end = MiniBatchKMeans(
        6, random_state=0, batch_size=100, max_iter=3, max_no_improvement=None
    ).fit(X)
    assert at_the_end.n_steps_ == 60
    assert at_the_end.n_iter_ == 3
    assert at_the_end.events_[-1]["what"] == "not settled"
    by_tol = MiniBatchKMeans(6, random_state=0, tol=1e3, max_no_improvement=None).fit(X)
    assert "tol" in by_tol.events_[-1]["detail"]


def test_history_and_callback():
    X = blobs(2000)
    params = {"random_state": 0, "batch_size": 10, "max_no_improvement": None, "max_iter": 20}
    model = MiniBatchKMeans(6, **params, keep="parameters").fit(X)
    assert len(model.history_) <= 1000
    steps = [entry["iteration"] for entry in model.history_]
    assert steps == sorted(set(steps))
    assert steps[-1] == model.n_steps_ == 4000
    assert model.history_[-1]["parameters"].shape == (6, 5)
    assert model.history_[-1]["objective_update"] == pytest.approx(model.inertia_, rel=0.1)

    seen = []
    stopped = MiniBatchKMeans(6, **params, callback=lambda p: seen.append(p) or len(seen) == 3)
    stopped.fit(X)
    assert len(seen) == 3
    assert stopped.n_steps_ == seen[-1].iteration < 4000
    assert stopped.events_[-1]["what"] == "stopped"


def test_verbose_goes_to_stderr(capfd):
    MiniBatchKMeans(3, random_state=0, verbose=True).fit(blobs())
    out, err = capfd.readouterr()
    assert out == ""
    assert "MiniBatchKMeans: iteration" in err


def test_interrupt_is_answered():
    X = np.zeros((200_000, 20), dtype=np.float32)
    X[:, 0] = np.arange(len(X))
    endless = MiniBatchKMeans(
        200, random_state=0, batch_size=len(X), max_iter=100_000, max_no_improvement=None,
        init=X[:200], reassignment_ratio=0,
    )  # fmt: skip
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.fit(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 5
    MiniBatchKMeans(2, random_state=0).fit(X[:100])  # the threads are still of use


@pytest.mark.parametrize(
    ("param", "value"),
    [("batch_size", 0), ("max_no_improvement", -1), ("init_size", 0), ("reassignment_ratio", -0.1),
     ("tol", np.nan), ("init", "best"), ("n_init", 0)],
)  # fmt: skip
def test_refused_parameters(param, value):
    with pytest.raises(ValueError, match=f"MiniBatchKMeans: {param}="):
        MiniBatchKMeans(**{param: value}).fit(blobs())


def test_nan_is_refused():
    X = blobs()
    X[3, 2] = np.nan
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="NaN"):
            getattr(MiniBatchKMeans(3), method)(X)


def test_damaged_counts_are_refused():
    model = MiniBatchKMeans(3, random_state=0).fit(blobs())
    model._check_loaded()
    model.counts_ = np.array([1.0, -1.0, 2.0])
    with pytest.raises(ValueError, match="counts_"):
        model._check_loaded()


def test_parameters_of_small_types_do_not_wrap() -> None:
    X = np.random.default_rng(0).normal(size=(600, 3))
    small = MiniBatchKMeans(
        np.uint8(100), batch_size=np.uint8(200), max_iter=np.uint8(3), random_state=0
    ).fit(X)
    usual = MiniBatchKMeans(100, batch_size=200, max_iter=3, random_state=0).fit(X)
    np.testing.assert_array_equal(small.labels_, usual.labels_)
