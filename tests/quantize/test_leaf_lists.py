"""Rows held leaf by leaf, and the nearest of them, against brute force.

Covers coterie.quantize._leaf_lists, coterie.quantize._tree_search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import HierarchicalKMeans
from coterie.quantize._leaf_lists import LeafLists


def brute(X: Any, queries: Any, k: int) -> tuple[Any, Any]:
    """Distances and rows of the k nearest, ties to the lower row, padded."""
    dists = np.sqrt(np.square(queries[:, np.newaxis].astype(float) - X).sum(axis=2))
    order = np.argsort(dists, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(dists, order, axis=1)
    pad = ((0, 0), (0, k - order.shape[1]))
    return (
        np.pad(found, pad, constant_values=np.inf),
        np.pad(order, pad, constant_values=-1),
    )


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 60),
    k=st.integers(1, 70),
    dtype=st.sampled_from([np.float32, np.float64]),
    whole=st.booleans(),
)
def test_all_leaves_are_brute_force(seed: int, n: int, k: int, dtype: type, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    X, queries = (rng.normal(scale=2, size=(size, 3)).astype(dtype) for size in (n, 5))
    if whole:  # ties, copies
        X, queries = np.round(X), np.round(queries)
    model = HierarchicalKMeans(3, 2, store_rows=True, random_state=0).fit(X)
    distances, ids = model.search(queries, k, beam=model.n_leaves_)
    exact, rows = brute(X, queries, k)
    np.testing.assert_allclose(distances, exact, rtol=1e-9, atol=1e-12)
    if whole:
        np.testing.assert_array_equal(ids, rows)
    else:
        at = np.take_along_axis(exact, np.argsort(distances, axis=1, kind="stable"), axis=1)
        np.testing.assert_allclose(distances, at, rtol=1e-9)


def test_recall_grows_with_the_beam_up_to_one() -> None:
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(3000, 8)), rng.normal(size=(50, 8))
    model = HierarchicalKMeans(6, 3, store_rows=True, random_state=0).fit(X)
    exact, rows = brute(X, queries, 10)
    recalls, before = [], np.full((50, 10), np.inf)
    for beam in (1, 2, 5, 20, 80, model.n_leaves_):
        distances, ids = model.search(queries, 10, beam=beam)
        assert (distances <= before).all()
        before = distances
        both = [np.intersect1d(a, b).size for a, b in zip(ids, rows, strict=True)]
        recalls.append(sum(both) / rows.size)
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.8
    assert recalls[-1] == 1.0
    np.testing.assert_array_equal(ids, rows)
    np.testing.assert_allclose(distances, exact, rtol=1e-12)


@given(batches=st.lists(st.integers(0, 12), min_size=1, max_size=5), seed=st.integers(0, 1000))
def test_rows_added_by_and_by_are_all_found(batches: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = HierarchicalKMeans(3, 2, random_state=0).fit(rng.normal(size=(40, 2)))
    held: dict[int, Any] = {}
    for size in batches:
        if size == 0:
            continue
        rows = rng.normal(size=(size, 2))
        ids = rng.permutation(1000)[:size] + 1000 * len(held)
        model.add(rows, ids)
        held |= dict(zip(ids.tolist(), rows, strict=True))
    if not held:
        return
    lists = LeafLists(model.leaf_rows_, model.leaf_row_ids_, model.leaf_row_starts_)
    assert lists.starts[-1] == len(held)
    for row, number in zip(lists.rows, lists.ids.tolist(), strict=True):
        np.testing.assert_array_equal(row, held[number])
    leaves = np.repeat(np.arange(model.n_leaves_), np.diff(lists.starts))
    np.testing.assert_array_equal(leaves, model.predict(lists.rows))
    for number, row in held.items():
        distances, ids = model.search(row[np.newaxis], 1)
        assert distances[0, 0] == 0
        assert ids[0, 0] == number


def test_ids_go_on_and_a_fit_lets_go_of_the_rows() -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = HierarchicalKMeans(2, 1, random_state=0, store_rows=True).fit(X)
    model.add(X + 100)
    assert sorted(model.leaf_row_ids_.tolist()) == list(range(12))
    model.set_params(store_rows=False).fit(X)
    with pytest.raises(ValueError, match=r"no rows are held; fit with store_rows=True or call add"):
        model.search(X, 1)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([1, 2], r"ids has shape \(2,\)"),
        ([0.5, 1.5, 2.5], "of float64"),
        ([1, -2, 3], "ids has -2; pass numbers from 0"),
        (np.array([0, 1, 2**63], dtype=np.uint64), f"ids has {2**63}; pass numbers from 0"),
        ([0, 1, 2**63 - 1], f"ids has {2**63 - 1}; pass numbers from 0"),
    ],
)
def test_odd_ids_are_refused(ids: list[Any], words: str) -> None:
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match=words):
        HierarchicalKMeans(2, 1).fit(X).add(X, ids)


def test_rows_may_share_an_id() -> None:
    X = np.arange(6.0).reshape(3, 2)
    model = HierarchicalKMeans(2, 1, random_state=0).fit(X).add(X, [7, 7, 2**63 - 2])
    assert model.search(X[:1], 3, beam=2)[1].tolist() == [[7, 7, 2**63 - 2]]


def test_answers_that_do_not_fit_are_refused_before() -> None:
    X = np.arange(6.0).reshape(3, 2)
    model = HierarchicalKMeans(2, 1, store_rows=True, random_state=0).fit(X)
    with pytest.raises(
        MemoryError, match=r"10000000000000 neighbours of 3 queries need .* ask for"
    ):
        model.search(X, 10**13)


@pytest.mark.parametrize("scale", [1e-120, 1e30, 1e140])
def test_scales_of_any_size(scale: float) -> None:
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(200, 3)), rng.normal(size=(5, 3))
    model = HierarchicalKMeans(3, 2, random_state=0, store_rows=True).fit(X * scale)
    distances, ids = model.search(queries * scale, 3, beam=model.n_leaves_)
    exact, rows = brute(X, queries, 3)
    np.testing.assert_array_equal(ids, rows)
    np.testing.assert_allclose(distances, exact * scale, rtol=1e-9)


def test_queries_of_another_type_and_threads(isa_kernels: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5)).astype(np.float32)
    one = HierarchicalKMeans(4, 2, random_state=0, store_rows=True, n_threads=1).fit(X)
    three = HierarchicalKMeans(4, 2, random_state=0, store_rows=True, n_threads=3).fit(X)
    queries = rng.normal(size=(40, 5))
    for mine, theirs in zip(one.search(queries, 4), three.search(queries, 4), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    tree, lists = one._tree(), one._lists()
    found = []
    for n_threads in (1, 2):
        dists, ids = np.empty((40, 4)), np.empty((40, 4), dtype=np.int64)
        n_met = isa_kernels.search_leaves(
            queries, tree, 0.25, lists.rows, lists.ids, lists.starts, 2, dists, ids, n_threads
        )
        found.append((n_met, dists.tobytes(), ids.tobytes()))
    assert found[0] == found[1]
    assert 0 < found[0][0] < 40 * 500
