"""KMeans as its users meet it: scikit-learn's results, its habits, and our own words.

Covers coterie.centroid._clusterer, coterie.centroid._passes and coterie.centroid._sphere.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import twins
from coterie import KMeans, options
from coterie._history import Event, Iteration
from coterie._progress import Progress

ALGORITHMS = ["auto", "lloyd", "hamerly", "yinyang"]
FEWER = pytest.mark.filterwarnings("ignore:Number of distinct clusters")


def iris() -> Any:
    return load_iris().data


def blobs(n_rows: int = 400, n_cols: int = 3, n_blobs: int = 5) -> Any:
    return make_blobs(n_rows, n_cols, centers=n_blobs, cluster_std=2.0, random_state=0)[0]


def sparse_counts() -> Any:
    """Mostly zeros, as word counts are."""
    rng = np.random.default_rng(0)
    return rng.poisson(0.4, size=(200, 15)) * rng.uniform(0.5, 1.5, size=(200, 15))


# --- scikit-learn's results ---------------------------------------------------------------------

SETS = {"iris": iris, "blobs": blobs, "counts": sparse_counts}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("tol", [0, 1e-4])
@pytest.mark.parametrize("name", SETS)
def test_from_the_same_start_the_result_is_scikit_learns(
    dtype: type, weighted: bool, container: Any, tol: float, name: str
) -> None:
    X = SETS[name]().astype(dtype)
    weights = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    arguments: dict[str, Any] = {"n_clusters": 4, "init": X[::45][:4], "n_init": 1, "tol": tol}
    ours = KMeans(**arguments).fit(container(X), sample_weight=weights)
    theirs = sklearn.cluster.KMeans(**arguments).fit(container(X), sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-6, atol=1e-6 * np.abs(X).max()
    )
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(
        theirs.inertia_, rel=1e-5 if dtype == np.float32 else 1e-10
    )
    new = X[::-1] + dtype(0.25)
    np.testing.assert_array_equal(ours.predict(container(new)), theirs.predict(container(new)))
    np.testing.assert_allclose(
        ours.transform(container(new)), theirs.transform(container(new)), rtol=1e-4, atol=1e-4
    )
    assert ours.score(new) == pytest.approx(theirs.score(new), rel=1e-5)
    for attribute in ("labels_", "cluster_centers_"):
        assert getattr(ours, attribute).dtype == getattr(theirs, attribute).dtype
    assert ours.transform(new).dtype == theirs.transform(new).dtype
    assert type(ours.n_iter_) is int


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("container", [np.array, sp.csr_matrix])
@pytest.mark.parametrize(
    ("rows", "start"),
    [
        ([0.0, 1, 2, 10, 11, 17], [1.0, 11, 1000]),
        ([0.0, 1, 2, 10, 11, 17], [-1000.0, 1, 11]),
        ([0.0, 0.5, 3, 9.5, 12], [5.0, 900, 1000]),
        ([-10.0, -9.5, -9, -8.5, -1, 1, 9, 9.5, 10, 30], [0.0, 500, 700, 5]),
    ],
)
def test_empty_clusters_are_filled_as_scikit_learn_does(
    algorithm: str, container: Any, rows: list[float], start: list[float]
) -> None:
    X, init = np.array(rows)[:, np.newaxis], np.array(start)[:, np.newaxis]
    if sp.issparse(container(X)) and algorithm not in ("auto", "lloyd"):
        algorithm = "auto"
    # Not 0: scikit-learn moves the origin of dense rows, so its centres never stop by a last bit.
    ours = KMeans(len(init), init=init, algorithm=algorithm, tol=1e-12).fit(container(X))
    theirs = sklearn.cluster.KMeans(len(init), init=init, n_init=1, tol=1e-12).fit(container(X))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    relocated = [event for event in ours.events_ if event["what"] == "relocated"]
    assert relocated
    assert all(event["iteration"] >= 1 for event in relocated)
    assert {event["where"] for event in relocated} <= set(range(len(init)))


def test_tol_is_relative_to_the_mean_variance() -> None:
    X = blobs() * [1.0, 5, 20]
    model = KMeans(6, init=X[:6], tol=1e-3).fit(X)
    bound = 1e-3 * X.var(axis=0).mean()
    shifts = [entry["shift"] for entry in model.history_]
    assert shifts[-1] <= bound
    assert all(shift > bound for shift in shifts[:-1])
    assert model.n_iter_ < KMeans(6, init=X[:6], tol=0).fit(X).n_iter_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fewer_distinct_rows_than_clusters_warns(algorithm: str) -> None:
    X = np.array([[0.0, 0], [0, 0], [1, 1], [1, 1], [1, 1]])
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\).*n_clusters \(3\)"):
        model = KMeans(3, random_state=0, algorithm=algorithm).fit(X)
    assert model.inertia_ == 0
    assert len(set(model.labels_)) == 2
    assert any(event["what"] == "fewer clusters" for event in model.events_)


def test_defaults_are_scikit_learns() -> None:
    ours, theirs = KMeans().get_params(), sklearn.cluster.KMeans().get_params()
    assert set(theirs) <= set(ours)
    different = {name for name in theirs if ours[name] != theirs[name]}
    assert different <= {"algorithm", "verbose"}


def test_given_centres_are_used_once() -> None:
    X = blobs()
    with pytest.warns(RuntimeWarning, match="only one init"):
        model = KMeans(3, init=X[:3], n_init=5).fit(X)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=X[:3]).fit(X).labels_)


def test_centres_keep_the_order_of_their_seeds() -> None:
    X = np.array([[0.0], [1], [10], [11], [20], [21]])
    for order in ([0, 2, 4], [4, 0, 2], [2, 4, 0]):
        model = KMeans(3, init=X[order]).fit(X)
        np.testing.assert_allclose(model.cluster_centers_, X[order] + 0.5)


def test_the_start_may_be_a_function() -> None:
    X = blobs()
    seen = []

    def first_rows(rows: Any, n_clusters: int, random_state: Any) -> Any:
        seen.append((rows.shape, n_clusters, isinstance(random_state, np.random.RandomState)))
        return rows[:n_clusters]

    model = KMeans(4, init=first_rows, n_init=2, random_state=0).fit(X)
    assert seen == [(X.shape, 4, True)] * 2
    np.testing.assert_array_equal(model.labels_, KMeans(4, init=X[:4]).fit(X).labels_)


# --- the tools around it ------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_bring_and_get_names(frame: Any) -> None:
    X = blobs()
    named = frame({name: X[:, i] for i, name in enumerate(["a", "b", "c"])})
    model = KMeans(3, init=X[:3]).fit(named)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=X[:3]).fit(X).labels_)
    np.testing.assert_array_equal(model.predict(named), model.labels_)
    other = frame({name: X[:, i] for i, name in enumerate(["a", "b", "z"])})
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_names_the_columns(kind: str) -> None:
    X = blobs()
    model = KMeans(3, init=X[:3]).set_output(transform=kind)
    for frame in (model.fit(X).transform(X), model.fit_transform(X)):
        assert list(frame.columns) == ["kmeans0", "kmeans1", "kmeans2"]
        np.testing.assert_array_equal(frame.to_numpy(), KMeans(3, init=X[:3]).fit_transform(X))
    np.testing.assert_array_equal(model.get_feature_names_out(), ["kmeans0", "kmeans1", "kmeans2"])


def test_pipeline_and_grid_search() -> None:
    X = iris()
    pipeline = make_pipeline(StandardScaler(), KMeans(random_state=0))
    search = GridSearchCV(pipeline, {"kmeans__n_clusters": [2, 5]}, cv=3).fit(X)
    assert search.best_params_ == {"kmeans__n_clusters": 5}
    assert search.predict(X).shape == (150,)
    again = clone(pipeline).set_params(kmeans__n_clusters=3).fit(X)
    np.testing.assert_array_equal(again.predict(X), again["kmeans"].labels_)


def test_a_pickle_is_the_same_model() -> None:
    X = blobs()
    model = KMeans(3, init=X[:3], keep="parameters").fit(X)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.predict(X), model.labels_)
    np.testing.assert_array_equal(thawed.cluster_centers_, model.cluster_centers_)
    assert thawed.events_ == model.events_
    assert len(thawed.history_) == len(model.history_)


def test_shortcuts_give_what_the_long_way_gives() -> None:
    X = blobs()
    weights = np.random.default_rng(0).random(len(X))
    model = KMeans(4, init=X[:4]).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(
        KMeans(4, init=X[:4]).fit_predict(X, sample_weight=weights), model.labels_
    )
    np.testing.assert_array_equal(
        KMeans(4, init=X[:4]).fit_transform(X, sample_weight=weights), model.transform(X)
    )
    expected = twins.sse(X, model.cluster_centers_, model.labels_, weights)
    assert model.inertia_ == pytest.approx(expected, rel=1e-12)
    assert model.score(X, sample_weight=weights) == pytest.approx(-expected, rel=1e-12)


def test_transform_gives_distances() -> None:
    X = blobs()
    model = KMeans(4, init=X[:4]).fit(X)
    expected = np.sqrt(twins.sq_dists(X, model.cluster_centers_))
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-14)


# --- history, events, callback ------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_history_has_one_entry_an_iteration_in_one_schema(algorithm: str) -> None:
    X = blobs()
    model = KMeans(5, init=X[:5], algorithm=algorithm, keep="parameters", tol=0).fit(X)
    assert len(model.history_) == model.n_iter_
    for number, entry in enumerate(model.history_, start=1):
        of_others = {"energy", "neg_entropy", "log_likelihood", "level", "n_nodes"}
        of_others |= {"weights", "covariances"}
        assert set(entry) == set(Iteration.__annotations__) - of_others
        assert entry["iteration"] == number
        for key in ("objective_assign", "objective_update", "shift", "seconds"):
            assert type(entry[key]) is float
        for key in ("iteration", "n_changed", "n_scanned"):
            assert type(entry[key]) is int
        assert entry["parameters"].shape == (5, 3)
        assert entry["parameters"].dtype == np.float64
    seconds = [entry["seconds"] for entry in model.history_]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    np.testing.assert_allclose(model.history_[-1]["parameters"], model.cluster_centers_)
    assert model.history_[-1]["objective_update"] == pytest.approx(model.inertia_, rel=1e-9)
    moves = np.diff([X[:5], *(entry["parameters"] for entry in model.history_)], axis=0)
    np.testing.assert_allclose(
        [entry["shift"] for entry in model.history_], np.square(moves).sum(axis=(1, 2))
    )


def test_a_callback_cannot_change_the_centres() -> None:
    """Bounds remember where they were."""

    def meddle(progress: Progress) -> None:
        with pytest.raises(ValueError, match="read-only"):
            progress.parameters[0] = 0

    X = blobs(100, 3, 5)
    plain = KMeans(5, init=X[:5], algorithm="hamerly").fit(X)
    watched = KMeans(5, init=X[:5], algorithm="hamerly", callback=meddle).fit(X)
    np.testing.assert_array_equal(watched.labels_, plain.labels_)


def test_parameters_are_kept_only_when_asked_for() -> None:
    X = blobs()
    assert "parameters" not in KMeans(5, init=X[:5]).fit(X).history_[0]


def test_events_have_one_schema() -> None:
    X = np.array([[0.0], [1], [2], [10], [11], [17]])
    model = KMeans(3, init=[[1.0], [11], [1000]], max_iter=1).fit(X)
    assert {"relocated", "not settled"} <= {event["what"] for event in model.events_}
    for event in model.events_:
        assert set(event) == set(Event.__annotations__)
        assert isinstance(event["what"], str)
        assert isinstance(event["where"], int | str | None)
        assert isinstance(event["iteration"], int | None)
        assert isinstance(event["detail"], str)


def test_a_callback_sees_every_iteration() -> None:
    X = blobs()
    seen: list[Progress] = []
    model = KMeans(5, init="random", n_init=3, random_state=0, callback=seen.append).fit(X)
    assert {progress.restart for progress in seen} == {0, 1, 2}
    assert {progress.n_init for progress in seen} == {3}
    assert {progress.max_iter for progress in seen} == {300}
    assert all(progress.parameters.shape == (5, 3) for progress in seen)
    lengths = [sum(progress.restart == run for progress in seen) for run in range(3)]
    assert model.n_iter_ in lengths
    for run in range(3):
        numbers = [progress.iteration for progress in seen if progress.restart == run]
        assert numbers == list(range(1, len(numbers) + 1))
    last = [[p.objective for p in seen if p.restart == run][-1] for run in range(3)]
    assert model.inertia_ <= min(last) * (1 + 1e-3)


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_stops_the_fit_which_keeps_what_it_has(answer: Any) -> None:
    X = blobs()
    model = KMeans(5, init=X[:5], tol=0, callback=lambda p: answer if p.iteration == 2 else None)
    model.fit(X)
    assert model.n_iter_ == len(model.history_) == 2
    expected = KMeans(5, init=X[:5], tol=0, max_iter=2).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert [event["what"] for event in model.events_ if event["what"] == "stopped"] == ["stopped"]
    assert not any(event["what"] == "not settled" for event in model.events_)


def test_a_stop_in_a_later_run_keeps_the_best_run_and_says_so() -> None:
    X = blobs()
    runs = []

    def stop_second(progress: Progress) -> bool:
        runs.append(progress.restart)
        return progress.restart == 1

    model = KMeans(5, init="random", n_init=6, random_state=0, tol=0, callback=stop_second).fit(X)
    assert set(runs) == {0, 1}
    first = KMeans(5, init="random", n_init=1, random_state=0, tol=0).fit(X)
    assert model.inertia_ <= first.inertia_
    assert any(event["what"] == "stopped" for event in model.events_)


def test_restarts_keep_the_lowest() -> None:
    X = blobs(n_blobs=8)
    rng = np.random.RandomState(0)
    single = [KMeans(8, init="random", n_init=1, random_state=rng, tol=0).fit(X) for _ in range(6)]
    sse = [model.inertia_ for model in single]
    best = KMeans(8, init="random", n_init=6, random_state=0, tol=0).fit(X)
    assert len(set(np.round(sse, 6))) > 1
    assert best.inertia_ == min(sse)
    assert best.n_iter_ == single[int(np.argmin(sse))].n_iter_


def test_progress_goes_to_stderr_only(capfd: pytest.CaptureFixture[str]) -> None:
    X = blobs()
    quiet = KMeans(4, init=X[:4]).fit(X)
    assert capfd.readouterr() == ("", "")
    KMeans(4, init=X[:4], verbose=True).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == quiet.n_iter_
    assert err.startswith("KMeans: iteration 1/300, objective ")


# --- what cannot be clustered -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((2, 3)), r"KMeans: n_samples=2 should be >= n_clusters=3; lower n_clusters"),
        (np.full((5, 2), np.nan), "Input X contains NaN"),
        (np.r_[np.ones((4, 2)), [[1, np.inf]]], "Input X contains infinity"),
        (np.r_[np.ones((4, 2)), [[1, np.nan]]].astype(np.float32), "Input X contains NaN"),
        (np.array([["a", "b"]] * 5), "could not convert string to float"),
        (pd.DataFrame({"a": [1.0] * 5, "b": list("vwxyz")}), "could not convert string to float"),
        (np.zeros((0, 2)), r"0 sample\(s\)"),
        (np.zeros((5, 0)), r"0 feature\(s\)"),
        (np.arange(5.0), "Expected 2D array, got 1D array"),
        (np.zeros((3, 3, 3)), "dim 3"),
        (sp.csr_array(np.full((5, 2), np.nan)), "contains NaN"),
        (np.full((5, 2), 1j), "Complex data not supported"),
    ],
)
def test_rows_that_cannot_be_clustered_are_refused_in_words(X: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KMeans(3).fit(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["predict", "transform", "score"])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_new_rows_are_checked_too(bad: float, method: str, container: Any) -> None:
    X = blobs()
    model = KMeans(3, init=X[:3]).fit(X)
    X[7, 1] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        getattr(model, method)(container(X))
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 3 features"):
        getattr(model, method)(container(X[:, :2]))


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (np.zeros((2, 3)), r"KMeans: .*initial centers \(2, 3\).*clusters 3; pass .*\(3, 3\)"),
        (np.zeros((3, 2)), r"KMeans: .*initial centers \(3, 2\).*features.* 3; pass .*\(3, 3\)"),
        (np.zeros(3), "Expected 2D array"),
        (np.full((3, 3), np.nan), "init contains NaN"),
        (lambda X, k, random_state: np.zeros((1, 1)), r"KMeans: .*pass an array of shape \(3, 3\)"),
    ],
)
def test_a_start_that_does_not_fit_is_refused_in_words(init: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KMeans(3, init=init).fit(blobs())


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (-np.ones(400), r"KMeans: sample_weight has negative values \(row 0\); use"),
        (np.r_[np.ones(399), -1e-9], r"negative values \(row 399\)"),
        (np.zeros(400), "KMeans: all sample weights are zero; give"),
        (np.ones(399), r"sample_weight.shape == \(399,\), expected \(400,\); pass one"),
        (np.ones((400, 1)), "1D array or scalar"),
        (np.full(400, np.nan), "sample_weight contains NaN"),
        (np.r_[np.ones(399), np.inf], "sample_weight contains infinity"),
    ],
)
def test_weights_that_make_no_sense_are_refused_in_words(weights: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KMeans(3).fit(blobs(), sample_weight=weights)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_clusters": 0}, r"n_clusters=0 was given; use a whole number of at least 1"),
        ({"n_clusters": 2.5}, r"n_clusters=2.5 .* whole number"),
        ({"n_clusters": True}, r"n_clusters=True .* whole number"),
        ({"n_clusters": None}, r"n_clusters=None .* whole number"),
        ({"init": "kmeans"}, r"init='kmeans' .* one of 'k-means\+\+', 'random'.* an array"),
        ({"n_init": 0}, r"n_init=0 .* 'auto' or a whole number of at least 1"),
        ({"max_iter": 0}, r"max_iter=0 .* at least 1"),
        ({"tol": -1e-9}, r"tol=-1e-09 .* at least 0"),
        ({"tol": np.nan}, r"tol=nan .* at least 0"),
        ({"algorithm": "full"}, r"algorithm='full' .* 'auto', 'lloyd', 'hamerly', 'yinyang'"),
        ({"metric": "manhattan"}, r"metric='manhattan' .* 'euclidean', 'cosine'"),
        ({"n_threads": 0}, r"n_threads=0 .* None or a whole number"),
        ({"n_local_trials": 0}, r"n_local_trials=0 .* None or a whole number"),
        ({"callback": 3}, r"callback=3 .* None or a callable"),
        ({"keep": "all"}, r"keep='all' .* None or one of 'parameters'"),
        ({"verbose": "yes"}, r"verbose='yes' .* True or False"),
        ({"random_state": "seed"}, r"seed"),
    ],
)
def test_a_wrong_parameter_is_refused_in_words(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KMeans(**params).fit(blobs())


# --- degenerate but valid -----------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@FEWER
def test_one_row_one_column_all_equal(algorithm: str, metric: str, dtype: type) -> None:
    with options(check_invariants=True):
        for X in (
            np.ones((1, 1)),
            np.full((1, 4), 3.0),
            np.zeros((6, 2)),
            np.full((6, 2), 0.1),
            np.full((6, 2), 1e-30),
            np.arange(1.0, 7)[:, np.newaxis],
        ):
            for n_clusters in {1, len(X)}:
                model = KMeans(n_clusters, random_state=0, algorithm=algorithm, metric=metric)
                model.fit(X.astype(dtype))
                assert np.isfinite(model.cluster_centers_).all()
                assert model.cluster_centers_.shape == (n_clusters, X.shape[1])
                np.testing.assert_array_equal(model.predict(X.astype(dtype)), model.labels_)
                if metric == "euclidean" and n_clusters == len(X):
                    assert model.inertia_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_as_many_clusters_as_rows(algorithm: str) -> None:
    X = blobs(30)
    with options(check_invariants=True):
        model = KMeans(30, random_state=0, algorithm=algorithm).fit(X)
    assert model.inertia_ == pytest.approx(0, abs=1e-20)
    assert sorted(model.labels_) == list(range(30))


def test_one_cluster_is_the_mean() -> None:
    X = blobs()
    model = KMeans(1, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [X.mean(axis=0)], rtol=1e-12)
    assert model.inertia_ == pytest.approx(X.var(axis=0).sum() * len(X), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool, np.float16])
def test_other_numbers_are_taken_as_float64(dtype: type) -> None:
    X = np.clip(np.round(blobs() + 20), 0, 100).astype(dtype)
    if dtype is bool:
        X = blobs() > 0
    start = np.unique(X, axis=0)[:3]
    model = KMeans(3, init=start).fit(X)
    assert model.cluster_centers_.dtype == np.float64
    expected = KMeans(3, init=start.astype(float)).fit(X.astype(float))
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_lists_are_rows_too() -> None:
    model = KMeans(2, init=[[0, 0], [9, 9]]).fit([[0, 1], [1, 0], [9, 8], [8, 9]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_a_weight_for_all_and_no_weight_are_the_same() -> None:
    X = blobs()
    plain = KMeans(4, init=X[:4]).fit(X)
    for weight in (1, 1.0, np.ones(400), [1] * 400):
        model = KMeans(4, init=X[:4]).fit(X, sample_weight=weight)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_, rtol=1e-12)


def test_rows_of_weight_zero_move_nothing_but_are_labelled() -> None:
    X = blobs()
    weights = np.ones(400)
    weights[50:100] = 0
    X[50:100] += 1000
    model = KMeans(4, init=X[:4]).fit(X, sample_weight=weights)
    without = KMeans(4, init=X[:4], tol=0).fit(np.delete(X, slice(50, 100), axis=0))
    twin = twins.lloyd(X, X[:4], weights=weights)
    np.testing.assert_allclose(without.cluster_centers_, twin.centers, rtol=1e-10)
    np.testing.assert_array_equal(model.labels_, twins.nearest(X, model.cluster_centers_))


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X[:, ::-1][:, ::-1],
        lambda X: X[::-1].copy()[::-1],
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        np.asfortranarray,
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_layout_of_rows_does_not_matter(make: Any, algorithm: str) -> None:
    X = blobs()
    plain = KMeans(6, init=X[:6], algorithm=algorithm).fit(X)
    other = KMeans(6, init=X[:6], algorithm=algorithm).fit(make(X))
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    np.testing.assert_array_equal(other.cluster_centers_, plain.cluster_centers_)
    assert other.inertia_ == plain.inertia_


# --- spherical ----------------------------------------------------------------------------------


def directions(n_rows: int = 300, n_cols: int = 4) -> Any:
    """Rows of all lengths about a few directions."""
    rng = np.random.default_rng(0)
    towards = rng.standard_normal((5, n_cols))[np.arange(n_rows) % 5]
    return (towards + 0.4 * rng.standard_normal((n_rows, n_cols))) * rng.uniform(
        0.1, 30, size=(n_rows, 1)
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_cosine_is_the_naive_spherical_k_means(algorithm: str, dtype: type, container: Any) -> None:
    X = directions().astype(dtype)
    if container is sp.csr_array and algorithm not in ("auto", "lloyd"):
        algorithm = "auto"
    twin = twins.spherical(X, X[:5])
    with options(check_invariants=True):
        model = KMeans(5, init=X[:5], metric="cosine", algorithm=algorithm, tol=0).fit(container(X))
    np.testing.assert_array_equal(model.labels_, twin.labels)
    np.testing.assert_allclose(model.cluster_centers_, twin.centers, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, rtol=1e-6)
    expected = twins.sse(twins.unit(X), model.cluster_centers_, twin.labels)
    assert model.inertia_ == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(model.predict(container(X * 7)), twin.labels)
    cosines = twins.unit(X) @ twin.centers.T
    np.testing.assert_allclose(np.square(model.transform(container(X))), 2 - 2 * cosines, atol=1e-5)
    assert model.history_[-1]["objective_update"] == pytest.approx(
        2 * (len(X) - twin.objectives[-1]), rel=1e-5
    )


@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float32, 1e30), (np.float32, 1e-30), (np.float64, 1e200), (np.float64, 1e-200)],
)
def test_cosine_looks_at_directions_alone(dtype: type, size: float) -> None:
    X = directions()
    plain = KMeans(5, init=X[:5], metric="cosine", tol=0).fit(X)
    scaled = (X * size).astype(dtype)
    model = KMeans(5, init=scaled[:5], metric="cosine", tol=0).fit(scaled)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_, atol=1e-6)


@FEWER
def test_cosine_bears_rows_of_zeros() -> None:
    X = directions()
    X[::10] = 0
    with options(check_invariants=True):
        model = KMeans(5, init=X[1:6], metric="cosine").fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_cosine_refuses_what_is_not_finite() -> None:
    X = directions()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KMeans(5, metric="cosine").fit(X)
