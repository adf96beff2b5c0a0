"""KMedoids, the estimator: known optima, every metric, weights, files, mistakes.

Covers coterie.medoid._find, coterie.medoid._given, coterie.medoid._gower_rows and
coterie.medoid._indexed_centers.
"""

from __future__ import annotations

import csv
import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import medoid_twins
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import KMedoids
from coterie.distance import METRICS, pairwise
from coterie.errors import FileError

try:
    import kmedoids
except ImportError:
    kmedoids = None

# Ruspini (1970): 75 points in four groups.
RUSPINI_X = (
    "4 5 10 9 13 13 12 15 18 19 22 27 28 24 27 28 30 31 32 36 28 32 35 33 38 41 38 38 32 34 44 "
    "44 44 46 47 49 50 53 52 55 54 60 63 86 85 85 78 74 97 98 98 99 99 101 108 110 108 111 115 "
    "117 70 77 83 61 69 78 66 58 64 69 66 61 76 72 64"
)
RUSPINI_Y = (
    "53 63 59 77 49 69 88 75 61 65 74 72 76 58 55 60 52 60 61 72 147 149 153 154 151 150 145 "
    "143 143 141 156 149 143 142 149 152 142 144 152 155 124 136 139 132 115 96 94 96 122 116 "
    "124 119 128 115 111 111 116 126 117 115 4 12 21 15 15 16 18 13 20 21 23 25 27 31 30"
)


def table(name: str) -> Any:
    if name == "ruspini":
        return np.array([RUSPINI_X.split(), RUSPINI_Y.split()], dtype=float).T
    if name == "iris":
        return load_iris().data
    path = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"
    if not path.exists():
        pytest.skip("the example data are not here")
    with path.open(encoding="utf-8") as file:
        return np.array([row[-2:] for row in list(csv.reader(file))[1:]], dtype=float)


#: Totals of cluster::pam 2.1.4 in R, and its medoids (from 1 on) where there are no ties.
PAM_IN_R: list[tuple[str, int, float, list[int] | None]] = [
    ("ruspini", 2, 2395.80421121133, [17, 42]),
    ("ruspini", 3, 1619.46976038816, [17, 32, 52]),
    ("ruspini", 4, 861.478111093295, [10, 32, 52, 70]),
    ("ruspini", 5, 779.684301964348, [10, 32, 52, 47, 70]),
    ("ruspini", 6, 714.651030511298, None),
    ("faithful", 2, 1270.1815878679, None),
    ("faithful", 3, 940.518583151261, None),
    ("faithful", 4, 733.624711744381, None),
    ("faithful", 5, 649.073070173352, None),
    ("iris", 2, 129.330388576932, None),
    ("iris", 3, 98.131154882271, None),
    ("iris", 4, 85.6629101976139, None),
    ("iris", 5, 79.0925271171967, None),
]


@pytest.mark.parametrize(("name", "n_clusters", "total", "medoids"), PAM_IN_R)
@pytest.mark.parametrize("method", ["fasterpam", "pam"])
def test_totals_of_another_pam(
    name: str, n_clusters: int, total: float, medoids: list[int] | None, method: str
) -> None:
    X = table(name)
    model = KMedoids(n_clusters, method=method).fit(X)
    if method == "pam":
        assert model.inertia_ == pytest.approx(total, rel=1e-12)
        if medoids is not None:
            assert sorted(model.medoid_indices_ + 1) == sorted(medoids)
    else:  # other swaps may end in another optimum
        assert model.inertia_ <= total * 1.03
    assert model.swap_optimal_
    assert medoid_twins.is_swap_optimal(pairwise(X), model.medoid_indices_)


def test_the_four_groups_of_ruspini() -> None:
    model = KMedoids(4).fit(table("ruspini"))
    assert model.inertia_ == pytest.approx(861.478111093295)
    assert sorted(np.bincount(model.labels_)) == [15, 17, 20, 23]


@pytest.mark.skipif(kmedoids is None, reason="the kmedoids package is not installed")
@pytest.mark.parametrize("seed", range(20))
def test_costs_of_the_kmedoids_package_from_the_same_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_clusters = int(rng.integers(20, 400)), int(rng.integers(2, 15))
    D = pairwise(rng.standard_normal((n, 3)) + 4 * rng.integers(0, 3, (n, 1)))
    start = rng.choice(n, n_clusters, replace=False)
    theirs = kmedoids.fasterpam(D, start.astype(np.uint64), n_cpu=1).loss
    ours = KMedoids(n_clusters, metric="precomputed", init=start).fit(D).inertia_
    assert ours <= theirs * (1 + 1e-9)


def blobs(n: int = 150, seed: int = 0) -> Any:
    return make_blobs(n, 3, centers=4, cluster_std=0.8, random_state=seed)[0]


NUMBERS = [name for name in METRICS if name not in ("haversine", "gower", "cityblock")]


@pytest.mark.filterwarnings("ignore:KMedoids. only 1 of:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("metric", NUMBERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_metric(metric: str, dtype: type, tmp_path: Path) -> None:
    X = blobs().astype(dtype)
    if metric in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        X = (np.random.default_rng(0).random((150, 9)) < 0.4).astype(dtype)
    if metric == "nan_euclidean":
        X[::7, 1] = np.nan
    D = pairwise(X, metric=metric)
    model = KMedoids(4, metric=metric).fit(X)
    assert model.swap_optimal_
    rounding = 1e-5 if dtype == np.float32 else 1e-9
    assert medoid_twins.is_swap_optimal(D, model.medoid_indices_, rel=rounding)
    assert model.inertia_ == pytest.approx(D[model.medoid_indices_].min(axis=0).sum())
    np.testing.assert_array_equal(model.cluster_centers_, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.transform(X).dtype == dtype
    np.testing.assert_allclose(
        model.transform(X), D[:, model.medoid_indices_], rtol=1e-6, atol=1e-12
    )
    assert model.score(X) == pytest.approx(-model.inertia_)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)


def test_places_on_the_globe() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (80, 2))
    model = KMedoids(3, metric="haversine").fit(X)
    assert medoid_twins.is_swap_optimal(pairwise(X, metric="haversine"), model.medoid_indices_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_parameters_of_a_metric() -> None:
    X = blobs()
    weights = np.array([1.0, 0, 3])
    model = KMedoids(3, metric="minkowski", metric_params={"p": 1, "w": weights}).fit(X)
    expected = KMedoids(3, metric="manhattan").fit(X * weights)
    np.testing.assert_array_equal(model.medoid_indices_, expected.medoid_indices_)
    learned = KMedoids(3, metric="mahalanobis").fit(X)
    assert set(learned.metric_params_) >= {"VI"}
    some = X[:10]
    np.testing.assert_array_equal(learned.predict(some), learned.labels_[:10])


@pytest.fixture
def animals() -> Any:
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {
            "kind": ["cat", "cat", "dog", None, "dog", "ant", "ant", "ant"],
            "weight": [4.0, 4.5, 20.0, 25.0, 22.0, 0.1, np.nan, 0.2],
            "legs": [4, 4, 4, 4, 4, 6, 6, 6],
        }
    )


@pytest.mark.parametrize("method", ["fasterpam", "alternate", "onebatch"])
def test_medoids_of_a_mixed_table_are_rows_of_it(animals: Any, method: str, tmp_path: Path) -> None:
    model = KMedoids(3, metric="gower", method=method, random_state=0).fit(animals)
    D = pairwise(animals, metric="gower")
    assert model.inertia_ == pytest.approx(D[model.medoid_indices_].min(axis=0).sum())
    assert model.feature_names_in_.tolist() == ["kind", "weight", "legs"]
    for center, place in zip(model.cluster_centers_, model.medoid_indices_, strict=True):
        row = animals.iloc[place]
        for cell, expected in zip(center, row, strict=True):
            assert cell == expected or (cell is None and expected != expected)
    np.testing.assert_array_equal(model.predict(animals), model.labels_)
    assert model.transform(animals).shape == (8, 3)
    assert model.score(animals) == pytest.approx(-model.inertia_)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(animals), model.labels_)
    assert again.cluster_centers_.tolist() == model.cluster_centers_.tolist()
    given_rows = KMedoids(2, metric="gower", init=animals.iloc[[0, 5]], max_iter=1).fit(animals)
    assert given_rows.history_[0]["objective_update"] == pytest.approx(D[[0, 5]].min(axis=0).sum())


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate", "onebatch"])
@pytest.mark.parametrize("init", ["build", "k-medoids++", "random", "farthest-first"])
def test_published_results_agree_with_each_other(method: str, init: str) -> None:
    X = blobs(600)
    model = KMedoids(5, method=method, init=init, batch_size=80, random_state=1).fit(X)
    D = pairwise(X, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.labels_, D.argmin(axis=1))
    assert model.labels_.dtype == np.int32
    assert model.medoid_indices_.dtype == np.int64
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum(), rel=1e-12)
    np.testing.assert_array_equal(model.labels_[model.medoid_indices_], np.arange(5))
    costs = [entry["objective_update"] for entry in model.history_]
    assert all(after <= before for before, after in itertools.pairwise(costs))
    assert model.history_[0]["objective_name"] == "total deviation"
    assert model.method_ == method
    assert model.swap_optimal_ == (method in ("fasterpam", "pam"))
    if method in ("fasterpam", "pam"):
        assert costs[-1] == pytest.approx(model.inertia_, rel=1e-12)


@pytest.mark.parametrize("method", ["fasterpam", "pam"])
def test_weights_are_repeated_rows(method: str) -> None:
    rng = np.random.default_rng(3)
    X, weights = blobs(90), rng.integers(0, 4, 90)
    model = KMedoids(4, method=method).fit(X, sample_weight=weights)
    again = KMedoids(4, method=method).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    assert model.inertia_ == pytest.approx(again.inertia_)
    assert (weights[model.medoid_indices_] > 0).all()
    assert model.score(X, sample_weight=weights) == pytest.approx(-model.inertia_)


@given(st.data())
def test_any_small_table_has_a_valid_result(data: Any) -> None:
    n = data.draw(st.integers(1, 20))
    cells = st.sampled_from([0.0, 1.0, -1.0, 1e-30, 1e30, 3.5])
    row = st.tuples(cells, cells)
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    n_clusters = data.draw(st.integers(1, n))
    method = data.draw(st.sampled_from(["fasterpam", "pam", "alternate", "onebatch"]))
    init = data.draw(st.sampled_from(["build", "k-medoids++", "random", "farthest-first"]))
    model = KMedoids(n_clusters, method=method, init=init, random_state=0)
    n_different = len({tuple(x) for x in X.tolist()})
    if n_different < n_clusters:
        with pytest.warns(ConvergenceWarning, match="lower n_clusters"):
            model.fit(X)
        assert model.events_[-1]["what"] == "fewer clusters"
    else:
        with warnings.catch_warnings():
            if method == "alternate":  # which may not get away from copies it started with
                warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
    assert np.unique(model.medoid_indices_).size == n_clusters
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.isfinite(model.inertia_)
    assert model.inertia_ == -model.score(X)


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate", "onebatch"])
def test_one_cluster_has_the_row_in_the_middle(method: str) -> None:
    X = blobs(100)
    model = KMedoids(1, method=method).fit(X)
    assert model.medoid_indices_[0] == pairwise(X).sum(axis=1).argmin()
    assert model.swap_optimal_
    assert not model.labels_.any()
    one = KMedoids(1, method=method).fit([[3.0, 4.0]])
    assert one.inertia_ == 0
    assert one.medoid_indices_.tolist() == [0]


def test_as_many_clusters_as_rows() -> None:
    X = blobs(12)
    model = KMedoids(12).fit(X)
    assert model.inertia_ == 0
    assert sorted(model.medoid_indices_) == list(range(12))


def test_sparse_rows_are_the_dense_ones() -> None:
    X = blobs()
    X[X < 0] = 0
    model, again = KMedoids(4).fit(X), KMedoids(4).fit(sp.csr_matrix(X))
    np.testing.assert_array_equal(model.medoid_indices_, again.medoid_indices_)
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    np.testing.assert_array_equal(again.predict(sp.csr_matrix(X)), model.labels_)
    np.testing.assert_array_equal(again.transform(sp.csr_matrix(X)), model.transform(X))


def test_rows_that_stream_are_labelled_block_by_block(tmp_path: Path) -> None:
    X = blobs(500)
    np.save(tmp_path / "rows.npy", X)
    model = KMedoids(4).fit(X)
    np.testing.assert_array_equal(model.predict(tmp_path / "rows.npy"), model.labels_)
    out = model.predict(tmp_path / "rows.npy", out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(out), model.labels_)
    np.testing.assert_array_equal(model.transform(tmp_path / "rows.npy"), model.transform(X))
    streamed = KMedoids(4).fit(tmp_path / "rows.npy")
    np.testing.assert_array_equal(streamed.medoid_indices_, model.medoid_indices_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_that_are_given(dtype: type, tmp_path: Path) -> None:
    X = blobs()
    D = pairwise(X).astype(dtype)
    D.flags.writeable = False
    model = KMedoids(4, metric="precomputed").fit(D)
    expected = KMedoids(4).fit(X)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-6)
    np.testing.assert_array_equal(model.predict(D), model.labels_)
    np.testing.assert_array_equal(model.transform(D), D[:, model.medoid_indices_])
    assert model.score(D) == -model.inertia_
    assert not hasattr(model, "cluster_centers_")
    with pytest.raises(AttributeError, match="given distances have none"):
        _ = model.cluster_centers_
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        coterie.load(tmp_path / "model").predict(D[:5]), model.labels_[:5]
    )


def test_starts_that_are_given() -> None:
    X = blobs()
    for init in ([3, 50, 70, 90], np.array([3, 50, 70, 90], dtype=np.uint8), X[[3, 50, 70, 90]]):
        model = KMedoids(4, init=init, max_iter=1).fit(X)
        start = medoid_twins.total_deviation(pairwise(X), [3, 50, 70, 90])
        assert model.history_[0]["objective_update"] == pytest.approx(start)
    twice = KMedoids(2, init=X[[3, 3]]).fit(X)  # the nearest, and the nearest of the others
    others = np.delete(np.arange(150), 3)
    second = others[pairwise(X)[3, others].argmin()]
    start = medoid_twins.total_deviation(pairwise(X), [3, second])
    assert twice.history_[0]["objective_update"] == pytest.approx(start)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ([0, 1, 2], "3 row numbers and n_clusters=4; pass one a cluster"),
        ([0, 1, 2, 150], "names row 150 and X has 150 rows; pass numbers from 0 to 149"),
        ([0, 1, 2, -1], "names row -1 and X has 150 rows"),
        ([0, 1, 2, 2], "names a row twice"),
        ([0.5, 1, 2, 3], "entries of type float64; pass 4 row numbers"),
        (np.zeros((3, 3)), r"shape \(3, 3\), and n_clusters=4 rows"),
        (np.zeros((4, 2)), r"shape \(4, 2\), and n_clusters=4 rows"),
    ],
)
def test_starts_that_cannot_be(init: Any, words: str) -> None:
    with pytest.raises(ValueError, match=rf"^KMedoids: init .*{words}"):
        KMedoids(4, init=init).fit(blobs())


def test_more_mistakes() -> None:
    X = blobs(10)
    D = pairwise(X)

    def said(words: str, rows: Any, **params: Any) -> None:
        weights = params.pop("sample_weight", None)
        with pytest.raises(ValueError, match=words):
            KMedoids(**{"n_clusters": 2, **params}).fit(rows, sample_weight=weights)

    with_nan = X.copy()
    with_nan[3, 1] = np.nan
    said(r"^KMedoids: Input X contains NaN in column 1 \(row 3", with_nan)
    said(r"n_samples=10 should be >= n_clusters=11; lower", X, n_clusters=11)
    said(r"n_samples=1 should be >= n_clusters=2", X, sample_weight=np.eye(10)[0])
    said(r"whose sample_weight is zero", X, init=[0, 1], sample_weight=[0] + [1] * 9)
    said(r"could not convert|numbers|text", [["a", "b"], ["c", "d"]])
    said(r"^KMedoids: Distance matrix should be square", D[:5], metric="precomputed")
    said(r"Negative values", -D, metric="precomputed")
    lost = D.copy()
    lost[2, 5] = lost[5, 2] = np.nan
    said(r"NaN as the distance of rows 2 and 5", lost, metric="precomputed")
    lost[2, 5] = lost[5, 2] = np.inf
    said(r"infinity as the distance of rows 2 and 5", lost, metric="precomputed")
    lopsided = D.copy()
    lopsided[2, 5] += 1
    said(r"must be symmetric, and X\[2, 5\]", lopsided, metric="precomputed")
    said(r"init has 2 dimensions, and metric='precomputed'", D, metric="precomputed", init=X[:2])
    said(r"metric='nope'", X, metric="nope")
    for n_clusters, method in ((1, "auto"), (2, "pam"), (2, "alternate"), (2, "onebatch")):
        huge = np.full(10, 1e308)
        words = r"^KMedoids: the weighted sum of distances overflows float64; divide"
        said(words, X, n_clusters=n_clusters, method=method, sample_weight=huge)
    model = KMedoids(2, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="the fit had 10 rows"):
        model.predict(D[:, :4])


def test_rows_without_distances_are_named() -> None:
    gaps = np.array([[1.0, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 4]])
    for n_clusters in (1, 2):
        with pytest.raises(ValueError, match=r"^KMedoids: row \d has no finite distance"):
            KMedoids(n_clusters, metric="nan_euclidean").fit(gaps)


def test_restarts_keep_the_best() -> None:
    X = blobs(300)
    asked = {"init": "random", "method": "alternate"}
    best = KMedoids(6, n_init=8, random_state=0, **asked).fit(X)
    rng = np.random.RandomState(0)
    runs = [KMedoids(6, random_state=rng, **asked).fit(X).inertia_ for _ in range(8)]
    assert best.inertia_ == min(runs) < max(runs)
    assert best.history_[-1]["objective_update"] == pytest.approx(best.inertia_)


def test_what_is_not_settled_says_so() -> None:
    model = KMedoids(6, init="random", max_iter=1, random_state=0).fit(blobs(300))
    assert model.events_[-1]["what"] == "not settled"
    assert not model.swap_optimal_
    assert model.n_iter_ == 1


def test_a_callback_stops_the_fit() -> None:
    model = KMedoids(6, init="random", random_state=0, callback=lambda p: p.iteration == 2)
    model.fit(blobs(300))
    assert len(model.history_) == 3
    assert [event["what"] for event in model.events_] == ["stopped"]
    np.testing.assert_array_equal(model.predict(blobs(300)), model.labels_)


def test_names_of_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(blobs(), columns=["a", "b", "c"])
    model = KMedoids(3).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).columns.tolist() == ["kmedoids0", "kmedoids1", "kmedoids2"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


def test_fitting_again_forgets_the_other_metric(animals: Any) -> None:
    model = KMedoids(2, metric="gower").fit(animals)
    model.set_params(metric="euclidean").fit(blobs())
    assert not hasattr(model, "gower_")
    model.set_params(metric="precomputed").fit(pairwise(blobs()))
    assert not hasattr(model, "center_rows_")


def test_a_function_does_not_go_to_a_file(tmp_path: Path) -> None:
    X = blobs(30)
    model = KMedoids(2, metric=_city).fit(X)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.predict(X), model.labels_)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    with pytest.raises(ValueError, match="metric was a function when the model was saved"):
        again.predict(X)
    np.testing.assert_array_equal(again.set_params(metric=_city).predict(X), model.labels_)


def _city(x: Any, y: Any) -> float:
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("medoid_indices_", np.array([1, 400]), "names rows that labels_ does not have"),
        ("medoid_indices_", np.array([1, 1]), "names a row twice"),
        ("medoid_indices_", np.zeros(0, dtype=np.int64), "names no row|known"),
        ("labels_", np.full(30, 2, dtype=np.int32), "labels_ names clusters"),
        ("center_rows_", np.zeros((2, 7)), "center_rows_ has shape"),
        ("method_", "magic", "method_ is none of"),
        ("swap_optimal_", 1, "neither True nor False"),
    ],
)
def test_a_damaged_file_is_refused(name: str, value: Any, words: str, tmp_path: Path) -> None:
    model = KMedoids(2).fit(blobs(30))
    setattr(model, name, value)
    model.save(tmp_path / "model")
    with pytest.raises(FileError, match=words):
        coterie.load(tmp_path / "model")
