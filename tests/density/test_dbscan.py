"""DBSCAN: against a naive twin, against scikit-learn, and what must always be true.

Covers coterie.density._advice, coterie.density._euclidean, coterie.density._lookup,
coterie.density._rule and coterie.density._slabs.
"""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse.csgraph import dijkstra
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import coterie
from coterie import DBSCAN
from coterie.distance import pairwise
from coterie.errors import AdviceWarning

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")

BENCHMARKS = Path(__file__).parents[3] / "shared" / "data" / "benchmarks"


def all_dists(X: Any) -> Any:
    """Squared distances summed in float64, column by column."""
    X = np.asarray(X, dtype=np.float64)
    total = np.zeros((len(X), len(X)))
    for column in X.T:
        total = total + np.square(column[:, None] - column[None, :])
    return total


def twin(near: Any, closeness: Any, min_samples: float, weights: Any, border: str) -> Any:
    """DBSCAN by the book from a matrix of who is near whom: labels and core rows."""
    n = len(near)
    weights = np.ones(n) if weights is None else weights
    core = near @ weights >= min_samples
    labels = np.full(n, -1)
    n_clusters = 0
    for seed in range(n):
        if labels[seed] >= 0 or not core[seed]:
            continue
        labels[seed] = n_clusters
        open_rows = [seed]
        while open_rows:
            for j in np.flatnonzero(near[open_rows.pop()] & core & (labels < 0)):
                labels[j] = n_clusters
                open_rows.append(j)
        n_clusters += 1
    for i in np.flatnonzero(~core):
        cores = np.flatnonzero(near[i] & core)
        if cores.size and border == "first":
            labels[i] = labels[cores].min()
        elif cores.size and border == "nearest":
            labels[i] = labels[cores[np.argmin(closeness[i, cores])]]
    return labels, np.flatnonzero(core)


def check_against_twin(X: Any, eps: float, min_samples: int, weights: Any, border: str) -> None:
    sq_dists = all_dists(X)
    labels, core = twin(sq_dists <= eps * eps, sq_dists, min_samples, weights, border)
    model = DBSCAN(eps, min_samples=min_samples, border=border).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.core_sample_indices_, core)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.components_, X[core])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


# Whole numbers, so that many pairs lie exactly at eps and many rows are equal.
GRIDS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.integers(1, 6)),
    elements=st.integers(0, 6).map(float),
)
EPS = st.sampled_from([0.5, 1.0, 2.0**0.5, 3.0**0.5, 2.0, 5.0**0.5, 3.0, 5.0])


@settings(max_examples=600)
@given(
    GRIDS,
    EPS,
    st.integers(1, 7),
    st.sampled_from(["first", "nearest", "noise"]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([(1.0, 0.0), (0.1, 1000.0), (1e-30, 0.0), (1e15, 0.0), (2.0**-520, 0.0)]),
    st.integers(0, 3),
)
def test_equals_the_naive_twin_on_grids(
    X: Any, eps: float, min_samples: int, border: str, dtype: Any, scale: Any, weighting: int
) -> None:
    factor, offset = scale
    X = (X * factor + offset).astype(dtype)
    eps = float(np.float64(eps) * factor)
    rng = np.random.default_rng(X.size)
    weights = [
        None,
        rng.integers(0, 3, len(X)).astype(float),
        rng.integers(-2, 4, len(X)).astype(float),
        None,
    ][weighting]
    if dtype == np.float64 or factor > 2.0**-500:
        check_against_twin(X, eps, min_samples, weights, border)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 9, 16, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
def test_equals_the_naive_twin_on_several_blocks(n_columns: int, dtype: Any, border: str) -> None:
    rng = np.random.default_rng(n_columns)
    centers = rng.uniform(-6, 6, size=(4, n_columns))
    X = (centers[rng.integers(4, size=700)] + rng.normal(size=(700, n_columns))).astype(dtype)
    eps = float(np.quantile(np.sqrt(all_dists(X)), 0.03))
    check_against_twin(X, eps, 8, None, border)
    check_against_twin(X, eps, 8, rng.uniform(-1, 3, size=700), border)
    check_against_twin(np.round(X), np.sqrt(n_columns), 5, None, border)


@pytest.mark.parametrize(("n_columns", "eps"), [(2, 0.3), (3, 0.6), (5, 1.2), (10, 2.5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_scikit_learn(n_columns: int, eps: float, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    centers = rng.uniform(-9, 9, size=(8, n_columns))
    X = centers[rng.integers(8, size=6000)] + rng.normal(size=(6000, n_columns))
    X[::9] = rng.uniform(-9, 9, size=(667, n_columns))
    X = X.astype(dtype)
    ours = DBSCAN(eps, min_samples=8).fit(X)
    theirs = sklearn.cluster.DBSCAN(eps=eps, min_samples=8, algorithm="kd_tree").fit(X)
    assert ours.labels_.max() > 0
    assert ours.labels_.dtype == theirs.labels_.dtype
    assert ours.core_sample_indices_.dtype == theirs.core_sample_indices_.dtype
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    np.testing.assert_array_equal(ours.components_, theirs.components_)


@pytest.mark.parametrize("n_columns", [2, 3, 7])
def test_threads_and_memory_order_change_nothing(n_columns: int) -> None:
    rng = np.random.default_rng(1)
    X = np.cumsum(rng.normal(size=(20_000, n_columns)), axis=0)
    for border in ("first", "nearest"):
        fits = [DBSCAN(3.0, min_samples=6, border=border, n_threads=n).fit(X) for n in (1, 2, 3, 4)]
        fits.append(DBSCAN(3.0, min_samples=6, border=border).fit(np.asfortranarray(X)))
        fits.append(DBSCAN(3.0, min_samples=6, border=border, n_jobs=-1).fit(X[::-1][::-1]))
        for other in fits[1:]:
            np.testing.assert_array_equal(other.labels_, fits[0].labels_)
            np.testing.assert_array_equal(other.core_sample_indices_, fits[0].core_sample_indices_)


def test_the_kernels_of_every_build_agree(isa_kernels: Any) -> None:
    rng = np.random.default_rng(2)
    for n_columns in (1, 2, 3, 5, 8, 17):
        X = np.round(rng.normal(size=(900, n_columns)) * 4)
        eps = 2.0 * n_columns**0.5
        sq_dists = all_dists(X)
        expected, core_ids = twin(sq_dists <= eps * eps, sq_dists, 6, None, "nearest")
        for kernel in (isa_kernels.dbscan_grid, isa_kernels.dbscan_tiles):
            labels, core = np.empty(900, dtype=np.int64), np.empty(900, dtype=np.uint8)
            found = kernel(X, None, eps, 6.0, "nearest", labels, core, 2)
            if found is None:
                assert n_columns > 3
                continue
            assert found == expected.max() + 1
            np.testing.assert_array_equal(labels, expected)
            np.testing.assert_array_equal(np.flatnonzero(core), core_ids)


def test_the_eleven_points_of_the_textbook() -> None:
    X = [[1, 1], [1, 3], [1, 5], [1, 8], [3, 1], [4, 4], [4, 6], [5, 1], [6, 4], [6, 6], [7, 1]]
    two = DBSCAN(2, min_samples=3).fit(X)
    assert two.labels_.tolist() == [0, 0, 0, -1, 0, 1, 1, 0, 1, 1, 0]
    border, noise = {2, 10}, {3}
    assert two.point_kind_.tolist() == [
        "border" if i in border else "noise" if i in noise else "core" for i in range(11)
    ]
    three = DBSCAN(3, min_samples=3).fit(X)
    assert three.labels_.tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0]
    assert np.flatnonzero(three.point_kind_ == "border").tolist() == [3, 10]
    with pytest.warns(AdviceWarning, match="one cluster holds 11 of 11 rows"):
        four = DBSCAN(4, min_samples=3).fit(X)
    assert four.labels_.tolist() == [0] * 11
    assert set(four.point_kind_) == {"core"}


# n_clusters, noise rows and core rows by R's dbscan, with which scikit-learn agrees.
REFERENCE = {
    ("sipu/aggregation", 1.5, 5): (5, 1, 774),
    ("sipu/aggregation", 1, 4): (9, 13, 673),
    ("sipu/jain", 2.4, 20): (1, 97, 236),
    ("sipu/flame", 0.95, 8): (10, 95, 49),
    ("sipu/r15", 0.35, 8): (15, 51, 440),
    ("fcps/chainlink", 0.15, 4): (2, 0, 1000),
    ("fcps/lsun", 0.4, 4): (3, 1, 394),
    ("other/chameleon_t4_8k", 8, 12): (12, 603, 6661),
    ("other/hdbscan", 0.025, 15): (7, 734, 1299),
    ("wut/smile", 0.05, 5): (49, 297, 571),
}


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark sets are not here")
@pytest.mark.parametrize("case", REFERENCE, ids=str)
def test_agrees_with_r(case: tuple[str, float, int]) -> None:
    name, eps, min_samples = case
    (path,) = BENCHMARKS.glob(f"{name}.data*")
    model = DBSCAN(eps, min_samples=min_samples).fit(np.loadtxt(path))
    n_clusters, n_noise, n_core = REFERENCE[case]
    assert model.labels_.max() + 1 == n_clusters
    assert np.count_nonzero(model.labels_ == -1) == n_noise
    assert model.core_sample_indices_.size == n_core


# Distances that are given.


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_precomputed_distances(border: str, form: str) -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(200, 2)) * 3)
    dists = np.sqrt(all_dists(X))
    expected, core = twin(dists <= 1, dists, 5, None, border)
    given_dists = dists
    if form == "sparse":
        given_dists = sp.csr_matrix(np.where(dists <= 2, dists + 1, 0))
        given_dists.data -= 1
    model = DBSCAN(1, min_samples=5, metric="precomputed", border=border).fit(given_dists)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.core_sample_indices_, core)
    np.testing.assert_array_equal(model.predict(given_dists), expected)


def test_a_matrix_need_not_be_symmetric() -> None:
    rng = np.random.default_rng(4)
    dists = rng.uniform(size=(120, 120))
    for matrix in (dists, sp.csr_matrix(np.where(dists < 0.2, dists, 0))):
        ours = DBSCAN(0.04, min_samples=6, metric="precomputed").fit(matrix)
        theirs = sklearn.cluster.DBSCAN(eps=0.04, min_samples=6, metric="precomputed").fit(
            matrix.copy()
        )
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
def test_a_graph_is_walked(border: str) -> None:
    graph = sp.random(150, 150, density=0.02, random_state=0, format="csr")
    graph = graph.maximum(graph.T).tocsr()
    paths = dijkstra(graph)
    expected, core = twin(paths <= 0.2, paths, 3, None, border)
    assert expected.max() > 0
    model = DBSCAN(0.2, min_samples=3, metric="graph", border=border).fit(graph)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.core_sample_indices_, core)
    np.testing.assert_array_equal(model.predict(graph), expected)
    with pytest.raises(ValueError, match="the fit had 150 rows"):
        model.predict(graph[:, :9])


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
def test_rows_given_by_distances_are_known_again(border: str) -> None:
    # 2 - 1 - 0 - 3: only node 1 is core, as node 3, which it does not reach, weighs less than 0.
    ends, lengths = ([0, 1, 1, 2, 0, 3], [1, 0, 2, 1, 3, 0]), [1.0, 1, 3, 3, 1.5, 1.5]
    edges = sp.csr_matrix((lengths, ends), shape=(4, 4))
    for metric in ("graph", "precomputed"):
        model = DBSCAN(2, min_samples=5, metric=metric, border=border)
        model.fit(edges, sample_weight=[1, 5, 1, -3])
        assert model.core_sample_indices_.tolist() == [1]
        assert model.labels_.tolist() == [-1 if border == "noise" else 0, 0, -1, -1]
        np.testing.assert_array_equal(model.predict(edges), model.labels_)


def test_new_nodes_join_along_their_edges() -> None:
    line = sp.diags([np.ones(4)], [1], shape=(5, 5))  # 0 - 1 - 2 - 3 - 4
    model = DBSCAN(1, min_samples=3, metric="graph").fit((line + line.T).tocsr())
    assert model.point_kind_.tolist() == ["border", "core", "core", "core", "border"]
    new = sp.csr_matrix(([1.0, 1.0, 0.4, 1.1], ([0, 1, 2, 3], [0, 1, 2, 2])), shape=(5, 5))
    assert model.predict(new).tolist() == [-1, 0, 0, -1, -1]
    wide = DBSCAN(2, min_samples=3, metric="graph").fit((line + line.T).tocsr())
    assert wide.predict(new).tolist() == [0, 0, 0, 0, -1]


def test_given_distances_are_checked() -> None:
    with pytest.raises(ValueError, match="should be square, and X has shape"):
        DBSCAN(metric="precomputed").fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="Negative values in data"):
        DBSCAN(metric="precomputed").fit(-np.ones((3, 3)))


# Other metrics.


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
@pytest.mark.parametrize(
    ("metric", "params", "eps"),
    [
        ("manhattan", {}, 2.0),
        ("chebyshev", {}, 1.0),
        ("minkowski", {"p": 3}, 1.5),
        ("cosine", {}, 0.02),
        ("sqeuclidean", {}, 2.0),
        ("hamming", {}, 0.4),
        pytest.param(lambda a, b: float(np.abs(a - b).sum()), {}, 2.0, id="callable"),
    ],
    ids=str,
)
def test_any_metric(
    metric: Any, params: dict[str, Any], eps: float, border: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("coterie.density._slabs.SLAB_ENTRIES", 1000)
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(90, 3)) * 2) + 0.5
    dists = pairwise(X, metric=metric, **params)
    weights = rng.integers(0, 3, size=90).astype(float)
    expected, core = twin(dists <= eps, dists, 6, weights, border)
    model = DBSCAN(eps, min_samples=6, metric=metric, metric_params=params, border=border)
    model.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.core_sample_indices_, core)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_mixed_tables_with_missing_cells() -> None:
    table = pd.DataFrame(
        {
            "size": [1.0, 1.1, np.nan, 1.2, 9.0, 9.1, 9.2, 9.1],
            "kind": ["a", "a", "a", "a", "b", "b", "b", None],
        }
    )
    model = DBSCAN(0.2, min_samples=3, metric="gower").fit(table)
    assert model.labels_.tolist() == [0] * 4 + [1] * 4
    new = pd.DataFrame({"size": [1.15, 9.0, 1.0, np.nan], "kind": ["a", "b", "c", None]})
    assert model.predict(new).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
def test_mixed_tables_predict_their_labels(border: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(200) < 0.1, np.nan, rng.integers(0, 30, size=200)),
            "kind": rng.choice(["a", "b", "c", None], size=200),
            "count": rng.integers(0, 5, size=200),
        }
    )
    dists = pairwise(table, metric="gower")
    expected, core = twin(dists <= 0.1, dists, 5, None, border)
    assert 0 < core.size < 200
    model = DBSCAN(0.1, min_samples=5, metric="gower", border=border).fit(table)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(table), expected)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").predict(table), expected)


# Awkward rows.


@pytest.mark.parametrize("n_columns", [2, 5])
def test_awkward_scales(n_columns: int) -> None:
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(300, n_columns)) * 3)
    plain = DBSCAN(1.5, min_samples=4).fit(X).labels_
    for factor in (2.0**-300, 2.0**-100, 2.0**200, 2.0**400):
        labels = DBSCAN(1.5 * factor, min_samples=4).fit(X * factor).labels_
        np.testing.assert_array_equal(labels, plain)
    far = np.vstack([X, np.full((1, n_columns), 1e12)])  # too many cells for a grid
    model = DBSCAN(1.5, min_samples=4).fit(far)
    np.testing.assert_array_equal(model.labels_, [*plain, -1])
    np.testing.assert_array_equal(model.predict(far), model.labels_)


def test_new_rows_join_the_clusters_they_reach() -> None:
    X = np.array([[0.0, 0], [0, 1], [1, 0], [10, 0], [10, 1], [11, 0]])
    model = DBSCAN(1.5, min_samples=3).fit(X)
    new = [[0.5, 0.5], [10.5, 0.5], [5, 5], [1e300, 0], [-1e9, 3]]
    assert model.predict(new).tolist() == [0, 1, -1, -1, -1]
    starred = DBSCAN(1.5, min_samples=3, border="noise").fit(X)
    assert starred.predict([[0.5, 0.5], [10.0, 1.0]]).tolist() == [-1, 1]


def test_without_core_rows_everything_is_noise() -> None:
    X = np.arange(10.0)[:, None]
    model = DBSCAN(0.5, min_samples=2).fit(X)
    assert model.predict(X).tolist() == [-1] * 10
    assert model.components_.shape == (0, 1)


# Advice.


@pytest.mark.parametrize(
    ("eps", "min_samples", "n_rows", "what"),
    [
        (0.4, 3, 20, ["eps below the smallest distance", "everything noise"]),
        (0.4, 1, 20, ["eps below the smallest distance"]),
        (1.0, 4, 20, ["everything noise"]),
        (2.0, 3, 20, ["every point core"]),
        (1.0, 3, 10, ["one giant cluster"]),
        (50.0, 3, 10, ["one giant cluster", "every point core"]),
    ],
)
def test_advice(eps: float, min_samples: int, n_rows: int, what: list[str]) -> None:
    X = np.r_[np.arange(10.0), np.arange(100.0, 110.0)][:n_rows, None]
    model = DBSCAN(eps, min_samples=min_samples)
    with pytest.warns(AdviceWarning, match="DBSCAN: ") as caught:
        model.fit(X)
    assert [event["what"] for event in model.events_] == what
    assert [str(warning.message) for warning in caught] == [
        f"DBSCAN: {event['detail']}" for event in model.events_
    ]
    assert {warning.filename for warning in caught} == {__file__}


def test_no_advice_where_all_is_well() -> None:
    X = np.r_[np.zeros(5), np.ones(5) * 9, 100.0][:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DBSCAN(1, min_samples=3).fit(X).events_ == []


def test_files(tmp_path: Path) -> None:
    X = np.random.default_rng(6).normal(size=(300, 3))
    model = DBSCAN(0.6, min_samples=5, border="nearest").fit(X)
    model.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
    assert json.dumps(loaded.events_) == json.dumps(model.events_)


def test_the_contract(capfd: pytest.CaptureFixture[str]) -> None:
    X, weights = np.random.default_rng(8).normal(size=(300, 3)), np.linspace(0, 2, 300)
    X.flags.writeable = weights.flags.writeable = False
    before = X.copy(), weights.copy()
    model = DBSCAN(0.6, min_samples=5)
    names = set(vars(model))
    model.fit(X, sample_weight=weights)
    assert all(name.endswith("_") for name in set(vars(model)) - names)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(weights, before[1])
    np.testing.assert_array_equal(clone(model).fit(X, sample_weight=weights).labels_, model.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    np.testing.assert_array_equal(model.fit_predict(X, sample_weight=weights), model.labels_)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(NotFittedError):
        DBSCAN().predict(X)
    with pytest.raises(ValueError, match="NaN"):
        DBSCAN().fit([[np.nan, 1.0]])


# Distances that differ by direction, tables that are damaged, parameters that are not used.


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, np.asarray])
@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
def test_given_distances_predict_in_every_form(form: Any, border: str) -> None:
    dists = pairwise(np.random.default_rng(0).normal(size=(60, 2)))
    model = DBSCAN(0.4, metric="precomputed", border=border).fit(form(dists))
    assert model.n_one_way_ == 0
    assert 0 < model.core_sample_indices_.size < 60
    np.testing.assert_array_equal(model.predict(form(dists)), model.labels_)


@pytest.mark.filterwarnings("default::coterie.errors.AdviceWarning")
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, np.asarray])
@pytest.mark.parametrize("metric", ["precomputed", "graph"])
def test_distances_that_differ_by_direction(form: Any, metric: str) -> None:
    dists = pairwise(np.random.default_rng(0).normal(size=(30, 1)))
    dists[3, 4], dists[4, 3], dists[5, 6], dists[6, 5] = 0.01, 9.0, 8.0, 0.02
    model = DBSCAN(0.5, metric=metric)
    with pytest.warns(AdviceWarning, match="2 pairs of rows are within eps=0.5 one way only"):
        model.fit(form(dists))
    assert model.n_one_way_ == 2
    with pytest.raises(ValueError, match="2 pairs of the fit's matrix were within"):
        model.predict(form(dists))


@pytest.mark.parametrize("metric", ["precomputed", "graph"])
@pytest.mark.parametrize("table", [np.empty((0, 0)), sp.csr_matrix((0, 0))])
def test_no_rows_at_all(metric: str, table: Any) -> None:
    with pytest.raises(ValueError, match=r"DBSCAN: .*table of shape \(0, 0\); pass the distances"):
        DBSCAN(metric=metric).fit(table)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "graph"])
def test_hostile_sparse_tables(dtype: Any, part: str, metric: str) -> None:
    X = sp.random(50, 50, density=0.5, random_state=0, format="csr")
    X = (100 * (X + X.T)).tocsr().astype(dtype)
    model = DBSCAN(40, metric=metric).fit(X)
    getattr(X, part)[3] = 10**8
    for call in (DBSCAN(40, metric=metric).fit, model.predict):
        with pytest.raises(ValueError, match="DBSCAN: X is a sparse matrix whose index arrays"):
            call(X)


def test_a_graph_is_copied() -> None:
    line = sp.diags([np.ones(4)], [1], shape=(5, 5))
    graph = (line + line.T).tocsr()
    model = DBSCAN(2, min_samples=3, metric="graph").fit(graph)
    new = sp.csr_matrix(([1.0], ([0], [0])), shape=(1, 5))
    expected = model.predict(new)
    graph.data[:] = 100.0
    assert model.predict(new).tolist() == expected.tolist() == [0]


def test_an_eps_from_correlations_of_huge_numbers() -> None:
    X = np.where(np.random.default_rng(0).random((300, 3)) < 0.5, 1.7e308, -1.7e308)
    small = DBSCAN(0.3, metric="correlation").fit(np.sign(X)).labels_
    with np.errstate(invalid="ignore"):  # in scikit-learn's check of the rows
        with pytest.raises(ValueError, match="no distance tells an eps"):
            DBSCAN("auto", metric="correlation").fit(X)
        labels = DBSCAN(0.3, metric="correlation").fit(X).labels_
    np.testing.assert_array_equal(labels, small)


@pytest.mark.filterwarnings("default::coterie.errors.AdviceWarning")
def test_a_power_that_is_not_used() -> None:
    X = np.r_[np.zeros(5), np.ones(5) * 9, 100.0][:, None]
    with pytest.warns(AdviceWarning, match="p=3 was given, and metric='chebyshev' takes none"):
        model = DBSCAN(1, min_samples=3, metric="chebyshev", p=3).fit(X)
    assert [event["what"] for event in model.events_] == ["p is not used"]
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        DBSCAN(1, min_samples=3, metric="minkowski", metric_params={"p": 1}, p=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DBSCAN(1, min_samples=3, metric="manhattan", p=1).fit(X)
        DBSCAN(1, min_samples=3, metric="minkowski", metric_params={"p": 1}, p=1).fit(X)


@pytest.mark.parametrize("metric", ["minkowski", "euclidean", "manhattan"])
def test_the_function_is_scikit_learns(metric: str) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    weights = np.random.default_rng(1).integers(0, 3, size=200)
    for params in ({}, {"eps": 0.3, "min_samples": 8, "sample_weight": weights, "p": 3}):
        ours = coterie.dbscan(X, metric=metric, **params)
        theirs = sklearn.cluster.dbscan(X, metric=metric, **params)
        for found, expected in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
