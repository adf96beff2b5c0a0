"""The ways to assign: every algorithm, thread count and source gives Lloyd's bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from coterie import KMeans
from coterie._history import Recorder
from coterie.centroid._kept import KeptTally
from coterie.centroid._passes import choose_space
from coterie.centroid._steps import (
    HamerlyStep,
    PlainStep,
    YinyangStep,
    choose_steps,
    neighbourly_order,
)
from coterie.data import as_source
from coterie.data.npy import NpySource

BOUNDED = ["hamerly", "yinyang", "elkan"]

pytestmark = pytest.mark.filterwarnings("ignore:Number of distinct clusters")


def assert_same_bits(ours: KMeans, expected: KMeans) -> None:
    np.testing.assert_array_equal(ours.labels_, expected.labels_)
    np.testing.assert_array_equal(ours.cluster_centers_, expected.cluster_centers_)
    assert ours.n_iter_ == expected.n_iter_
    assert ours.inertia_ == expected.inertia_
    for key in ("objective_assign", "objective_update", "shift", "n_changed"):
        assert [e[key] for e in ours.history_] == [e[key] for e in expected.history_]


def blobs(n_rows: int, n_cols: int, n_blobs: int, dtype: type = np.float64) -> Any:
    X = make_blobs(n_rows, n_cols, centers=n_blobs, cluster_std=2.0, random_state=n_rows)[0]
    return X.astype(dtype)


@pytest.mark.parametrize("algorithm", [*BOUNDED, "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("n_rows", "n_cols", "n_clusters"), [(50, 1, 3), (700, 2, 40), (1500, 9, 12), (900, 33, 70)]
)
def test_every_algorithm_equals_lloyd(
    algorithm: str,
    dtype: type,
    order: Any,
    weighted: bool,
    n_rows: int,
    n_cols: int,
    n_clusters: int,
) -> None:
    X = np.array(blobs(n_rows, n_cols, 6, dtype), order=order)
    weights = np.random.default_rng(0).random(n_rows) if weighted else None
    arguments: dict[str, Any] = {"init": X[:n_clusters], "tol": 0}
    plain = KMeans(n_clusters, algorithm="lloyd", **arguments).fit(X, sample_weight=weights)
    ours = KMeans(n_clusters, algorithm=algorithm, **arguments).fit(X, sample_weight=weights)
    assert_same_bits(ours, plain)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 120),
    n_cols=st.integers(1, 6),
    whole=st.booleans(),
    order=st.sampled_from("CF"),
    dtype=st.sampled_from([np.float32, np.float64]),
    algorithm=st.sampled_from(BOUNDED),
    data=st.data(),
)
def test_every_algorithm_equals_lloyd_on_small_and_degenerate_rows(
    seed: int, n_rows: int, n_cols: int, whole: bool, order: Any, dtype: type, algorithm: str,
    data: st.DataObject,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_cols))
    X = np.array(np.round(X * 2) if whole else X, dtype=dtype, order=order)
    n_clusters = data.draw(st.integers(1, n_rows))
    # Some starts are far away, so that clusters stay empty and rows are relocated.
    start = X[rng.permutation(n_rows)[:n_clusters]].astype(np.float64)
    start[rng.random(n_clusters) < 0.2] += 100
    plain = KMeans(n_clusters, init=start, tol=0, algorithm="lloyd").fit(X)
    ours = KMeans(n_clusters, init=start, tol=0, algorithm=algorithm).fit(X)
    assert_same_bits(ours, plain)
    kinds = [{e["what"] for e in model.events_} - {"algorithm"} for model in (ours, plain)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("algorithm", BOUNDED)
def test_rows_that_were_relocated_go_on_as_under_lloyd(algorithm: str) -> None:
    """Fewer panels than groups, and bounds that start anew for a row."""
    for seed in (1759, *range(40)):
        rng = np.random.default_rng(seed)
        X = np.round(rng.standard_normal((101, 1)) * 2)
        start = X[rng.permutation(101)[:7]]
        plain = KMeans(7, init=start, tol=0, algorithm="lloyd").fit(X)
        assert_same_bits(KMeans(7, init=start, tol=0, algorithm=algorithm).fit(X), plain)


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", *BOUNDED])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(algorithm: str, weighted: bool) -> None:
    X = blobs(5000, 3, 8, np.float32)
    weights = np.random.default_rng(0).random(len(X)) if weighted else None

    def fit(n_threads: int) -> KMeans:
        model = KMeans(12, init=X[:12], algorithm=algorithm, tol=0, n_threads=n_threads)
        return model.fit(X, sample_weight=weights)

    one = fit(1)
    for n_threads in (1, 2, 3, 4):
        assert_same_bits(fit(n_threads), one)


@pytest.mark.parametrize("step", [HamerlyStep, YinyangStep])
def test_bounds_spare_most_rows_of_clear_clusters(step: Any) -> None:
    X = blobs(3000, 2, 5)
    algorithm = "hamerly" if step is HamerlyStep else "yinyang"
    model = KMeans(5, random_state=0, algorithm=algorithm, tol=0).fit(X)
    scanned = [entry["n_scanned"] for entry in model.history_]
    assert scanned[0] == 3000
    assert scanned[-1] < 600
    plain = KMeans(5, random_state=0, algorithm="lloyd", tol=0).fit(X)
    assert {entry["n_scanned"] for entry in plain.history_} == {3000}


@pytest.mark.parametrize("step_type", [PlainStep, HamerlyStep, YinyangStep])
def test_rows_moved_by_hand_are_looked_at_again(step_type: Any) -> None:
    X = blobs(300, 2, 3)
    blocks = as_source(X)
    step = step_type(KeptTally(blocks, choose_space(blocks)[1], 3))
    centers = X[:3].astype(np.float64)
    step.assign(centers)
    labels = step.tally.labels.copy()
    for row in range(0, 300, 7):
        step.tally.move_row(row, (labels[row] + 1) % 3)
    step.forget(np.arange(0, 300, 7))
    assert step.assign(centers) == len(range(0, 300, 7))
    np.testing.assert_array_equal(step.tally.labels, labels)


@pytest.mark.parametrize("n_centers", [1, 2, 4, 5, 33, 100])
def test_the_order_of_centres_names_each_once(n_centers: int) -> None:
    centers = np.random.default_rng(0).standard_normal((n_centers, 3))
    order = neighbourly_order(centers)
    assert order.dtype == np.int32
    np.testing.assert_array_equal(np.sort(order), np.arange(n_centers))


def test_the_order_keeps_equal_centres_apart_from_far_ones() -> None:
    centers = np.repeat([[0.0], [100.0]], 8, axis=0)[np.random.default_rng(0).permutation(16)]
    sides = centers[neighbourly_order(centers), 0]
    np.testing.assert_array_equal(sides, np.sort(sides))
    np.testing.assert_array_equal(np.sort(neighbourly_order(np.zeros((20, 2)))), np.arange(20))


def test_the_algorithm_that_auto_chose_is_an_event() -> None:
    X = blobs(400, 3, 4)
    model = KMeans(4, random_state=0).fit(X)
    told = [e for e in model.events_ if any(name in e["detail"] for name in ("lloyd", *BOUNDED))]
    assert len(told) >= 1


@pytest.mark.parametrize("n_clusters", [4, 30, 80])
def test_what_auto_chose_is_told_for_iterations_that_took_place(n_clusters: int) -> None:
    X = blobs(2000, 25, 8)
    for max_iter in (1, 2, 300):
        model = KMeans(n_clusters, init=X[:n_clusters], max_iter=max_iter, tol=0).fit(X)
        when = [e["iteration"] for e in model.events_ if e["what"] == "algorithm"]
        assert all(at is None or 1 <= at <= model.n_iter_ for at in when), (when, model.n_iter_)


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", *BOUNDED])
def test_the_choice_does_not_depend_on_a_clock(algorithm: str) -> None:
    X = blobs(2000, 4, 6)
    models = [KMeans(9, random_state=0, algorithm=algorithm, tol=0).fit(X) for _ in range(3)]
    for model in models[1:]:
        assert model.events_ == models[0].events_
        assert [e["n_scanned"] for e in model.history_] == [
            e["n_scanned"] for e in models[0].history_
        ]


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", *BOUNDED])
def test_sparse_rows_work_with_every_algorithm(algorithm: str) -> None:
    X = sp.random_array((300, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    start = X[:5].toarray()
    plain = KMeans(5, init=start, algorithm="lloyd", tol=0).fit(X)
    ours = KMeans(5, init=start, algorithm=algorithm, tol=0).fit(X)
    assert_same_bits(ours, plain)
    dense = KMeans(5, init=start, algorithm=algorithm, tol=0).fit(X.toarray())
    np.testing.assert_array_equal(ours.labels_, dense.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, dense.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", "hamerly", "yinyang"])
@pytest.mark.parametrize(("dtype", "order"), [(np.float32, "C"), (np.float64, "F")])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_memory_map_gives_the_bits_of_rows_in_memory(
    algorithm: str,
    dtype: type,
    weighted: bool,
    order: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.array(blobs(1000, 3, 5, dtype), order=order)
    np.save(tmp_path / "rows.npy", X)
    on_disk = np.load(tmp_path / "rows.npy", mmap_mode="r")
    weights = np.random.default_rng(0).random(1000) if weighted else None
    arguments: dict[str, Any] = {"init": X[:8], "tol": 0}
    in_memory = KMeans(8, algorithm="lloyd", **arguments).fit(X, sample_weight=weights)
    monkeypatch.setattr(NpySource, "block_bytes", 70 * X.itemsize * 3)
    streamed = KMeans(8, algorithm=algorithm, **arguments).fit(on_disk, sample_weight=weights)
    np.testing.assert_array_equal(streamed.labels_, in_memory.labels_)
    np.testing.assert_array_equal(streamed.cluster_centers_, in_memory.cluster_centers_)
    assert streamed.n_iter_ == in_memory.n_iter_
    assert streamed.inertia_ == pytest.approx(in_memory.inertia_, rel=1e-13)
    for method in ("predict", "transform"):
        np.testing.assert_array_equal(
            getattr(streamed, method)(on_disk), getattr(in_memory, method)(X)
        )
    assert streamed.score(on_disk) == pytest.approx(in_memory.score(X), rel=1e-13)


@pytest.mark.parametrize("n_rows_each", [1, 7, 64, 333])
def test_the_coordinates_do_not_depend_on_the_cut(
    n_rows_each: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = blobs(1000, 3, 5) + 0.1
    np.save(tmp_path / "rows.npy", X)
    whole = choose_space(as_source(X))[1]
    monkeypatch.setattr(NpySource, "block_bytes", n_rows_each * 3 * 8)
    cut = choose_space(as_source(np.load(tmp_path / "rows.npy", mmap_mode="r")))[1]
    for name in ("scale", "shift", "step_inverse", "origin", "limbs", "wild"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


@pytest.mark.parametrize("init", ["k-means++", "random", "farthest-first"])
def test_a_memory_map_is_seeded_as_rows_in_memory_are(
    init: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = blobs(1000, 3, 5)
    np.save(tmp_path / "rows.npy", X)
    in_memory = KMeans(5, init=init, n_init=2, random_state=0).fit(X)
    monkeypatch.setattr(NpySource, "block_bytes", 3000)
    on_disk = np.load(tmp_path / "rows.npy", mmap_mode="r")
    streamed = KMeans(5, init=init, n_init=2, random_state=0).fit(on_disk)
    np.testing.assert_array_equal(streamed.cluster_centers_, in_memory.cluster_centers_)
    np.testing.assert_array_equal(streamed.labels_, in_memory.labels_)


def test_a_step_is_chosen_by_name() -> None:
    blocks = as_source(blobs(50, 2, 2))
    space = choose_space(blocks)[1]

    def chosen(name: str) -> type:
        return type(next(choose_steps(name, blocks, space, 2, Recorder(1))))

    assert chosen("lloyd") is PlainStep
    assert chosen("hamerly") is HamerlyStep
    assert chosen("yinyang") is YinyangStep
    assert issubclass(chosen("elkan"), HamerlyStep)


@pytest.mark.parametrize("algorithm", ["hamerly", "yinyang"])
@pytest.mark.parametrize("far", [1.0, 1e6, 1e12])
def test_bounds_prove_labels_also_beside_a_row_far_out(algorithm: str, far: float) -> None:
    """Distances within the clusters are then tiny in the units the bounds are kept in."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)) + 3 * rng.standard_normal((10, 4)).repeat(300, axis=0)
    X[7] *= far
    model = KMeans(10, init=X[[7, *range(1, 10)]], algorithm=algorithm, tol=0).fit(X)
    assert max(entry["n_scanned"] for entry in model.history_[-10:]) < 0.2 * len(X)


@pytest.mark.parametrize(("step_type", "n_bytes"), [(HamerlyStep, 4), (YinyangStep, 18)])
def test_bounds_take_few_bytes_a_row(step_type: type[HamerlyStep], n_bytes: int) -> None:
    blocks = as_source(blobs(100, 2, 3))
    step = step_type(KeptTally(blocks, choose_space(blocks)[1], 3))
    assert step.bounds.upper.nbytes + step.bounds.lower.nbytes == n_bytes * 100
