"""The choice of eps: curves against a naive twin, knees where there are some, none on noise.

Covers coterie.select.eps.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from coterie import DBSCAN
from coterie.density._knee import farthest_from_chord
from coterie.errors import AdviceWarning
from coterie.select import k_distances, suggest_eps, suggest_min_samples

BENCHMARKS = Path(__file__).parents[3] / "shared" / "data" / "benchmarks"


def blobs(n_columns: int, noise: float, n_rows: int = 1500, seed: int = 11) -> tuple[Any, Any]:
    """Four unit blobs in the corners of a box, and uniform noise in it."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((4, n_columns))
    centers[:, 0], centers[:, 1] = [-10, -10, 10, 10], [-10, 10, -10, 10]
    labels = rng.integers(4, size=n_rows)
    X = centers[labels] + rng.normal(size=(n_rows, n_columns))
    is_noise = rng.random(n_rows) < noise
    X[is_noise] = rng.uniform(-15, 15, size=(int(is_noise.sum()), n_columns))
    labels[is_noise] = -1
    return X, labels


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("k", [1, 4, 29])
def test_curves_equal_the_naive_twin(metric: str, k: int) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    scipy_name = {"manhattan": "cityblock"}.get(metric, metric)
    ordered = np.sort(cdist(X, X, scipy_name), axis=1)[:, 1 : k + 1]
    found = k_distances(X, k, metric=metric)
    assert found.k == k
    np.testing.assert_allclose(found.kth, np.sort(ordered[:, -1]), atol=1e-12)
    np.testing.assert_allclose(found.mean, np.sort(ordered.mean(axis=1)), atol=1e-12)


def test_threads_change_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 3))
    one = k_distances(X, 5, n_threads=1)
    for n_threads in (2, 3, 4):
        np.testing.assert_array_equal(k_distances(X, 5, n_threads=n_threads).kth, one.kth)
        assert suggest_eps(X, n_threads=n_threads).eps == suggest_eps(X, n_threads=1).eps


def test_the_farthest_point_from_the_chord() -> None:
    assert farthest_from_chord(np.array([0.0, 0.0, 0.0, 1.0])) == (2, pytest.approx(2 / 3))
    assert farthest_from_chord(np.arange(5.0))[1] == pytest.approx(0, abs=1e-15)
    assert farthest_from_chord(np.ones(5)) == (0, 0.0)
    assert farthest_from_chord(np.ones(1)) == (0, 0.0)


@pytest.mark.parametrize("n_columns", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_a_knee_tells_clusters_from_noise(n_columns: int, noise: float) -> None:
    X, labels = blobs(n_columns, noise)
    found = suggest_eps(X)
    assert found.has_knee
    assert found.knee is not None
    assert found.eps == np.nextafter(found.curve[found.knee], np.inf)
    assert found.strength > 0.4
    model = DBSCAN(found.eps, min_samples=found.min_samples).fit(X)
    # Of those at 30 % in the plane a part lies in the blobs.
    assert adjusted_rand_score(labels, model.labels_) > (0.75 if noise == 0.3 else 0.9)


@pytest.mark.parametrize("n_columns", [2, 3, 4, 5])
@pytest.mark.parametrize("n_rows", [100, 500, 2000])
def test_uniform_noise_has_no_knee(n_columns: int, n_rows: int) -> None:
    for seed in range(40):
        X = np.random.default_rng([seed, n_rows]).uniform(size=(n_rows, n_columns))
        found = suggest_eps(X)
        assert not found.has_knee, seed
        assert found.knee is None
        assert "no knee" in found.reason


def test_a_row_is_core_exactly_up_to_the_knee() -> None:
    # Whole numbers: many rows have the same k-distance, and roots are rounded.
    X = np.random.default_rng(1).integers(0, 40, size=(900, 3)).astype(float)
    for min_samples in (3, 5, 8):
        found = suggest_eps(X, min_samples)
        model = DBSCAN(found.eps, min_samples=min_samples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdviceWarning)
            model.fit(X)
        assert model.core_sample_indices_.size == np.count_nonzero(found.curve < found.eps)


def test_min_samples_grows_with_columns_rows_and_noise() -> None:
    rng = np.random.default_rng(2)
    assert suggest_min_samples(rng.uniform(size=(60, 2))) == 4
    assert suggest_min_samples(rng.uniform(size=(400, 2))) == 5
    assert suggest_min_samples(rng.uniform(size=(400, 3))) == 6
    assert suggest_min_samples(rng.uniform(size=(400, 10))) == 20
    assert suggest_min_samples(rng.uniform(size=(9000, 2))) == 8
    assert suggest_min_samples(rng.uniform(size=(20, 10))) == 5  # a quarter of the rows
    assert suggest_min_samples(rng.uniform(size=(6, 10))) == 4
    assert suggest_min_samples(blobs(2, 0.3)[0]) > suggest_min_samples(blobs(2, 0.0)[0])


def test_copies_say_nothing_about_eps() -> None:
    X, _ = blobs(2, 0.1, n_rows=400)
    plain = suggest_eps(X, 5)
    copied = suggest_eps(np.vstack([X, np.zeros((500, 2))]), 5)
    assert copied.eps == plain.eps
    assert copied.knee == (plain.knee or 0) + 500


@pytest.mark.parametrize("X", [np.ones((50, 2)), np.repeat(np.arange(10.0), 9)[:, None]])
def test_rows_that_are_all_copies_tell_no_eps(X: Any) -> None:
    for ask in (lambda: suggest_eps(X, 5), lambda: DBSCAN("auto").fit(X)):
        with pytest.raises(ValueError, match=r"copies .* pass the distinct rows"):
            ask()


def test_too_few_rows_are_named() -> None:
    with pytest.raises(ValueError, match="needs 4 neighbours and X has 3 rows; lower"):
        suggest_eps(np.eye(3), 5)
    with pytest.raises(ValueError, match="X has 1 rows"):
        DBSCAN("auto").fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="k_distances: k=0 was given; use"):
        k_distances(np.eye(3), 0)
    with pytest.raises(ValueError, match="min_samples of at least 2"):
        suggest_eps(np.eye(3), 1)
    assert suggest_eps(np.eye(3), 2).eps == pytest.approx(2**0.5)  # equally far: no knee


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dbscan_takes_the_eps_that_is_suggested(dtype: Any) -> None:
    X = blobs(3, 0.1)[0].astype(dtype)
    model = DBSCAN("auto", min_samples=6).fit(X)
    assert model.eps_ == suggest_eps(X, 6).eps
    assert model.events_ == []
    np.testing.assert_array_equal(model.labels_, DBSCAN(model.eps_, min_samples=6).fit(X).labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert DBSCAN(3).fit(X[:, :2]).eps_ == 3.0


def test_dbscan_says_where_there_is_no_knee() -> None:
    X = np.random.default_rng(3).uniform(size=(500, 2))
    with pytest.warns(AdviceWarning) as caught:
        model = DBSCAN("auto").fit(X)
    assert f"eps='auto' took eps={model.eps_:g}: the curve has no knee" in str(caught[0].message)
    assert {warning.filename for warning in caught} == {__file__}
    assert [event["what"] for event in model.events_] == ["no knee", "one giant cluster"]


def test_dbscan_chooses_eps_under_any_metric() -> None:
    X, labels = blobs(3, 0.1)
    model = DBSCAN("auto", metric="manhattan").fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    table = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "kind": np.where(X[:, 2] > 0, "a", "b")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        mixed = DBSCAN("auto", metric="gower").fit(table)
    assert mixed.eps_ == suggest_eps(table, 5, metric="gower").eps
    for metric in ("precomputed", "graph"):
        with pytest.raises(ValueError, match="eps='auto' looks at distances between rows"):
            DBSCAN("auto", metric=metric).fit(np.ones((9, 9)))


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark sets are not here")
@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")
@pytest.mark.parametrize("name", ["fcps/lsun", "fcps/chainlink"])
def test_benchmark_sets_are_found_as_they_are(name: str) -> None:
    X = np.loadtxt(BENCHMARKS / f"{name}.data.gz")
    labels = np.loadtxt(BENCHMARKS / f"{name}.labels0.gz")
    found = suggest_eps(X)
    model = DBSCAN(found.eps, min_samples=found.min_samples).fit(X)
    assert adjusted_rand_score(labels, model.labels_) == 1
    assert adjusted_rand_score(labels, DBSCAN("auto").fit(X).labels_) == 1


def test_min_samples_may_be_a_small_integer_type() -> None:
    X = np.random.default_rng(0).normal(size=(150, 2))
    assert suggest_eps(X, np.int8(2)).eps == suggest_eps(X, 2).eps


def test_distances_whose_sum_is_no_number_tell_no_dimension() -> None:
    X = np.array([[-1.7e308], [0.0], [0.0], [1.7e308], [0.0], [1.7e308]])
    assert 2 <= suggest_min_samples(X) <= 4


def test_curves_that_rise_beyond_all_numbers() -> None:
    X = np.array([[0.0], [1e-300], [1e-10], [1e300], [-1e305], [1.5e308]])
    assert suggest_eps(X, 2).eps > 0


@pytest.mark.parametrize(
    "ask", [suggest_eps, suggest_min_samples, lambda X, **options: k_distances(X, 3, **options)]
)
@pytest.mark.parametrize(
    ("wrong", "options"),
    [
        (np.eye(9), {"n_threads": 0}),
        (np.eye(9), {"metric": "near"}),
        (np.full((9, 2), np.nan), {}),
        (np.zeros(9), {}),
        (np.zeros((9, 2, 2)), {}),
        (5, {}),
    ],
)
def test_complaints_name_the_function_that_was_called(ask, wrong, options):
    who = getattr(ask, "__name__", "").replace("<lambda>", "k_distances")
    with pytest.raises(ValueError, match=f"^{who}: "):
        ask(wrong, **options)
