"""The vocabulary tree: what must always be true of it, odd data, streams, weights, files.

Covers coterie.quantize.hierarchical, coterie.quantize._tree_estimator,
coterie.quantize._tree_build, coterie.quantize._tree_learn.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
import twins
from coterie import HierarchicalKMeans, KMeans
from streams import Afar, Stream

sys.path.insert(0, str(Path(__file__).parent))
import tree_twins


def groups(n: int = 600, d: int = 4, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Rows around 20 places."""
    rng = np.random.default_rng(seed)
    places = rng.normal(scale=5, size=(20, d))
    return (places[rng.integers(20, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def check_model(model: Any, X: Any, weights: Any = None) -> None:
    """What is true of every fitted tree."""
    starts, centers = model.tree_starts_, model.tree_centers_
    n_leaves = model.n_leaves_
    assert centers.dtype == X.dtype
    assert n_leaves <= model.branching**model.depth
    np.testing.assert_array_equal(model.leaf_nodes_, tree_twins.leaves_from_left(starts))
    np.testing.assert_array_equal(model.cluster_centers_, centers[model.leaf_nodes_])
    sizes = np.diff(starts)
    assert ((sizes == 0) | ((sizes >= 2) & (sizes <= model.branching))).all()

    assert model.labels_.dtype == np.int32
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.counts_, np.bincount(model.labels_, minlength=n_leaves))
    assert model.counts_.sum() == len(X)
    own = twins.sse(X, model.cluster_centers_, model.labels_, weights)
    assert model.inertia_ == pytest.approx(own, rel=1e-9, abs=1e-300)

    # Every row is below its nearest child at each level, and every node counts the rows below it.
    rows = np.zeros(len(centers), dtype=int)
    for x, label in zip(X, model.predict(X, beam=1), strict=True):
        assert model.leaf_nodes_[label] == tree_twins.greedy_leaf(x, centers, starts)
        node = int(model.leaf_nodes_[label])
        while node >= 0:
            rows[node] += 1
            node = int(model.tree_parents_[node])
    np.testing.assert_array_equal(model.tree_counts_, rows)
    assert (model.tree_counts_ > 0).all()


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 50),
    d=st.sampled_from([1, 2, 5, 17]),
    branching=st.integers(2, 6),
    depth=st.integers(1, 4),
    dtype=st.sampled_from([np.float32, np.float64]),
    kind=st.sampled_from(["normal", "integers", "copies", "offset", "one"]),
    beam=st.sampled_from([1, 1, 3]),
    init=st.sampled_from(["k-means++", "random"]),
)
def test_what_is_always_true(
    seed: int, n: int, d: int, branching: int, depth: int, dtype: Any, kind: str, beam: int,
    init: str,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "integers":
        X = np.round(X)
    elif kind == "copies":
        X = X[rng.integers(min(n, 5), size=n)]
    elif kind == "offset":
        X = X + 1e4
    elif kind == "one":
        X[:] = X[0]
    X = X.astype(dtype)
    with coterie.options(check_invariants=True):
        model = HierarchicalKMeans(branching, depth, init=init, beam=beam, random_state=seed).fit(X)
    check_model(model, X)
    n_distinct = len(np.unique(X, axis=0))
    assert model.n_leaves_ <= n_distinct
    if n_distinct <= branching:  # a child for each
        assert model.n_leaves_ == n_distinct or init == "random"
        if model.n_leaves_ == n_distinct:  # means of many copies show the grid of the sums
            assert model.inertia_ <= (0 if n <= 8 * branching else 1e-20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_leaves_are_good_clusters(dtype: Any) -> None:
    X = groups(4000, 3, dtype)
    tree = HierarchicalKMeans(5, 2, random_state=0, max_iter=100, tol=0).fit(X)
    flat = KMeans(25, random_state=0, n_init=3).fit(X)
    check_model(tree, X)
    assert tree.n_leaves_ == 25
    assert flat.inertia_ < tree.inertia_ < 1.5 * flat.inertia_


def test_one_level_is_k_means() -> None:
    X = groups(500, 3)
    tree = HierarchicalKMeans(6, 1, random_state=0, tol=0, max_iter=300).fit(X)
    again = KMeans(6, init=tree.cluster_centers_, n_init=1).fit(X)
    np.testing.assert_array_equal(again.labels_, tree.labels_)
    assert again.inertia_ == pytest.approx(tree.inertia_, rel=1e-9)
    # Each node is: so are the rows of each child of the root.
    deep = HierarchicalKMeans(6, 2, random_state=0, tol=0, max_iter=300).fit(X)
    np.testing.assert_array_equal(deep.tree_centers_[:7], tree.tree_centers_)
    for child in range(6):
        own = X[tree.labels_ == child]
        centers = deep.tree_centers_[deep.tree_starts_[1 + child] : deep.tree_starts_[2 + child]]
        settled = KMeans(len(centers), init=centers, n_init=1, max_iter=1).fit(own)
        np.testing.assert_allclose(settled.cluster_centers_, centers, rtol=1e-6, atol=1e-9)


def test_more_starts_are_no_worse() -> None:
    X = np.random.default_rng(0).uniform(size=(400, 2))
    gains = []
    for seed in range(5):
        one, many = (
            HierarchicalKMeans(20, 1, init="random", n_init=n_init, random_state=seed, tol=0).fit(X)
            for n_init in (1, 5)
        )
        gains.append(one.inertia_ - many.inertia_)
        check_model(many, X)
    assert min(gains) >= -1e-9
    assert max(gains) > 0


@pytest.mark.parametrize("source", [Stream, Afar])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_streams_give_the_same_bits(source: Any, dtype: Any, weighted: bool) -> None:
    X = groups(700, 5, dtype)
    X[100:160] = X[7]
    weights = np.random.default_rng(1).integers(0, 4, size=700) * 0.25 if weighted else None
    params: dict[str, Any] = {"branching": 4, "depth": 3, "random_state": 0, "n_init": 2}
    kept = HierarchicalKMeans(**params).fit(X, sample_weight=weights)
    stream = source(X, (50, 3, 0, 128))
    passing = HierarchicalKMeans(**params).fit(stream, sample_weight=weights)
    for name in ("tree_centers_", "tree_starts_", "tree_counts_", "labels_", "counts_"):
        np.testing.assert_array_equal(getattr(passing, name), getattr(kept, name))
    assert passing.inertia_ == pytest.approx(kept.inertia_, rel=1e-12)
    assert passing.n_iter_ == kept.n_iter_
    for mine, theirs in zip(passing.history_, kept.history_, strict=True):
        assert mine["objective_update"] == theirs["objective_update"]
    check_model(kept, X, weights)
    # Some looks at the rows, then a pass a start of a level, one an iteration and one a level, and
    # at the end the leaves and their SSE.
    assert stream.n_passes <= 10 + 3 * 3 + kept.n_iter_
    np.testing.assert_array_equal(kept.predict(Stream(X)), kept.labels_)
    assert kept.score(Stream(X)) == pytest.approx(kept.score(X), rel=1e-12)


def test_rows_of_a_file(tmp_path: Path) -> None:
    X = groups(900, 3, np.float32)
    np.save(tmp_path / "rows.npy", X)
    kept = HierarchicalKMeans(3, 3, random_state=0).fit(X)
    path = str(tmp_path / "rows.npy")
    read = HierarchicalKMeans(3, 3, random_state=0, store_rows=True).fit(path)
    np.testing.assert_array_equal(read.tree_centers_, kept.tree_centers_)
    out = kept.predict(path, out=tmp_path / "leaves.npy")
    np.testing.assert_array_equal(np.load(out), kept.labels_)
    np.testing.assert_array_equal(read.search(X[:20], 1)[0], np.zeros((20, 1)))


def test_threads_and_strides_give_the_same_bits() -> None:
    X = groups(20_000, 6, np.float32)
    one = HierarchicalKMeans(8, 3, random_state=0, n_threads=1).fit(X)
    for n_threads, rows in (
        (2, X),
        (3, np.asfortranarray(X)),
        (4, np.repeat(X, 2, axis=1)[:, ::2]),
    ):
        other = HierarchicalKMeans(8, 3, random_state=0, n_threads=n_threads).fit(rows)
        np.testing.assert_array_equal(other.tree_centers_, one.tree_centers_)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        assert other.inertia_ == one.inertia_


def test_weights_are_copies() -> None:
    # Where every distinct row becomes a seed, only sums matter.
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 2)), 1)
    counts = rng.integers(1, 4, size=12)
    heavy = HierarchicalKMeans(12, 1, random_state=0).fit(X, sample_weight=counts)
    many = HierarchicalKMeans(12, 1, random_state=0).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(heavy.tree_centers_[0], many.tree_centers_[0], rtol=1e-12)
    assert {tuple(c) for c in heavy.cluster_centers_} == {tuple(c) for c in many.cluster_centers_}
    assert heavy.inertia_ == many.inertia_ == 0


def test_rows_without_weight_make_no_centres() -> None:
    X = np.concatenate([groups(100, 2), np.full((50, 2), 1e3)])
    weights = np.repeat([1.0, 0.0], [100, 50])
    model = HierarchicalKMeans(4, 2, random_state=0).fit(X, sample_weight=weights)
    assert np.abs(model.cluster_centers_).max() < 100
    check_model(model, X, weights)


@pytest.mark.parametrize("scale", [1e-120, 1e30, 1e140])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scale_and_place_change_no_label(scale: float, offset: float) -> None:
    X = np.round(groups(300, 3), 2) * 128
    plain = HierarchicalKMeans(4, 2, random_state=0, tol=0).fit(X)
    power = 2.0 ** np.round(np.log2(scale))
    scaled = HierarchicalKMeans(4, 2, random_state=0, tol=0).fit(X * power)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    moved = HierarchicalKMeans(4, 2, random_state=0).fit((X + offset) * scale)
    check_model(moved, (X + offset) * scale)


def test_a_few_rare_values_among_many_copies_are_found() -> None:
    X = np.zeros((30_000, 2))
    X[::3000] = np.arange(20.0).reshape(10, 2) + 1
    model = HierarchicalKMeans(16, 2, random_state=0).fit(X)
    assert model.n_leaves_ == 11
    assert model.inertia_ == 0


def test_extreme_outliers_do_not_hide_the_rest() -> None:
    X = np.concatenate([groups(500, 2), [[1e9, 1e9]]])
    model = HierarchicalKMeans(5, 3, random_state=0).fit(X)
    check_model(model, X)
    assert model.n_leaves_ > 50
    assert model.inertia_ < 0.2 * np.square(X[:500] - X[:500].mean(axis=0)).sum()


def test_events_tell_of_small_and_equal_nodes() -> None:
    X = np.repeat(np.arange(5.0)[:, np.newaxis], 4, axis=0)
    model = HierarchicalKMeans(3, 3, random_state=0).fit(X)
    assert model.n_leaves_ == 5
    told = {event["what"]: event["detail"] for event in model.events_}
    assert "fewer than 3 distinct rows and got a child for each" in told["small nodes"]
    equal = HierarchicalKMeans(3, 3, random_state=0).fit(np.ones((9, 2)))
    assert equal.n_leaves_ == 1
    assert equal.labels_.tolist() == [0] * 9
    assert [event["what"] for event in equal.events_] == ["small nodes", "early leaves"]


def test_history_falls_within_each_level() -> None:
    model = HierarchicalKMeans(5, 3, random_state=0).fit(groups(2000))
    for level in (1, 2, 3):
        sse = [e["objective_update"] for e in model.history_ if e["level"] == level]
        assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(sse))
    # The last SSE is that of the labels before the last move of the centres, all leaves included.
    assert model.inertia_ <= model.history_[-1]["objective_update"] * (1 + 1e-9)
    assert model.inertia_ == pytest.approx(model.history_[-1]["objective_update"], rel=0.02)
    assert model.n_iter_ == len(model.history_)


def test_a_callback_stops_with_the_tree_so_far() -> None:
    X = groups(2000)
    seen = []

    def stop(progress: Any) -> bool:
        seen.append(progress.objective)
        return len(seen) == 3

    model = HierarchicalKMeans(5, 3, random_state=0, callback=stop).fit(X)
    assert len(seen) == 3
    assert model.n_leaves_ == 5
    assert "stopped" in {event["what"] for event in model.events_}
    model.set_params(callback=None)
    check_model(model, X)


def test_sparse_rows_are_made_dense() -> None:
    import scipy.sparse as sp

    X = np.where(groups(200, 6) > 1, groups(200, 6), 0)
    dense = HierarchicalKMeans(3, 2, random_state=0).fit(X)
    sparse = HierarchicalKMeans(3, 2, random_state=0).fit(sp.csr_matrix(X))
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_array_equal(dense.predict(sp.csr_matrix(X)), dense.labels_)
    stream = Stream(sp.csr_matrix(X))
    stream.sparse = True
    np.testing.assert_array_equal(dense.predict(stream), dense.labels_)


def test_files(tmp_path: Path) -> None:
    X = groups(300, 3, np.float32)
    model = HierarchicalKMeans(4, 2, random_state=0, store_rows=True, beam=2).fit(X)
    model.learn_idf(model.bag_of_words(X, np.arange(300) % 7))
    model.save(tmp_path / "tree.coterie")
    again = coterie.load(tmp_path / "tree.coterie")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.idf_, model.idf_)
    for mine, theirs in zip(again.search(X, 3), model.search(X, 3), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("tree_starts_", lambda a: a[::-1].copy(), "tree_starts_"),
        ("tree_starts_", lambda a: a[:-1], "tree_starts_"),
        ("labels_", lambda a: a + 99, "labels_ names leaves"),
        ("counts_", lambda a: a[:-1], "counts_ has"),
        ("leaf_row_starts_", lambda a: a[::-1].copy(), "leaf_row_starts_"),
        ("leaf_row_ids_", lambda a: None, "incomplete"),
    ],
)
def test_damaged_models_are_refused(name: str, change: Any, words: str) -> None:
    model = HierarchicalKMeans(4, 2, random_state=0, store_rows=True).fit(groups(200, 3))
    changed = change(getattr(model, name))
    if changed is None:
        delattr(model, name)
    else:
        setattr(model, name, changed)
    with pytest.raises(ValueError, match=words):
        model._check_loaded()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m, X: m.predict(X, beam=0), "HierarchicalKMeans: beam=0"),
        (lambda m, X: m.search(X, 0), "HierarchicalKMeans: k=0"),
        (lambda m, X: m.fit(X * np.nan), "HierarchicalKMeans: .*NaN"),
        (lambda m, X: m.predict(X[:, :2]), "features"),
        (lambda m, X: m.set_params(branching=1).fit(X), "branching=1"),
        (lambda m, X: m.fit(X * 1e200), "overflow"),
    ],
)
def test_what_cannot_be_is_said(ask: Any, words: str) -> None:
    X = groups(50, 3)
    with pytest.raises(ValueError, match=words):
        ask(HierarchicalKMeans(2, 2, random_state=0).fit(X), X)
