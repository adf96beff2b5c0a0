"""An index against brute force and the functions of its methods' names; what it keeps of X."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie.neighbors.index
import twins
from apart import outcomes
from coterie.distance import METRICS, as_metric
from coterie.neighbors import Index, count_within, knn, kth_distances, spanning_tree, within

METHODS = ["kdtree", "brute"]


def rows(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def grid(seed: int, n: int, d: int, dtype: Any = np.float64) -> Any:
    """Rows of small integers: duplicates and many equal distances."""
    return np.random.default_rng(seed).integers(0, 5, size=(n, d)).astype(dtype)


def taxicab(x: Any, y: Any) -> float:
    return float(np.abs(x - y).sum())


def answers(index: Index, queries: Any = None) -> list[Any]:
    """All that an index can be asked, as a flat list of arrays."""
    found = [*index.knn(3, queries), *index.kth_distances(2, queries), *index.within(1.0, queries)]
    found += [index.count_within(1.5, queries)]
    found += [index.count_within(1.5, queries, np.linspace(0.1, 1, index.n_rows))]
    for cores in (None, index.kth_distances(3)[0]):
        found += vars(index.spanning_tree(cores)).values()
    if queries is not None:
        cores, own = (index.kth_distances(3, asked)[0] for asked in (None, queries))
        found += index.nearest_reachable(cores, queries, own, 0.8)
    return found


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 150), d=st.integers(1, 4))
def test_answers_are_those_of_brute_force(method: str, seed: int, n: int, d: int) -> None:
    X, queries = grid(seed, n, d), grid(seed + 1, 7, d)
    index = Index(X, method=method)
    for asked, others in ((None, X), (queries, queries)):  # again and again of one index
        reduced, exact = (f(others, X, "euclidean") for f in (twins.reduced_lengths, twins.lengths))
        found = index.knn(3, asked)
        np.testing.assert_array_equal(found.ids, twins.knn(reduced, 3))
        np.testing.assert_array_equal(found.dists, np.take_along_axis(exact, found.ids, axis=1))
        np.testing.assert_array_equal(index.kth_distances(3, asked)[0], found.dists[:, 2])
        near = reduced <= 2.0
        np.testing.assert_array_equal(index.count_within(2**0.5, asked), near.sum(axis=1))
        lists = index.within(2**0.5, asked)
        np.testing.assert_array_equal(lists.ids, near.nonzero()[1])
        np.testing.assert_array_equal(lists.dists, exact[near])
    tree = index.spanning_tree()
    edges = list(zip(tree.lengths.tolist(), tree.heads.tolist(), tree.tails.tolist(), strict=True))
    assert edges == twins.spanning_tree(twins.lengths(X, X, "euclidean"))


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "haversine", "seuclidean"])
@pytest.mark.parametrize("single", [False, True])
def test_the_same_bits_as_the_functions(method: str, metric: str, single: bool) -> None:
    X, queries = rows(700, 2), rows(40, 2, np.float32 if single else np.float64, seed=1)
    options: dict[str, Any] = {"metric": metric, "method": method}
    index = Index(X, **options)
    for asked in (None, queries):
        assert_same([*index.knn(4, asked)], [*knn(X, 4, asked, **options)])
        assert_same([*index.kth_distances(4, asked)], [*kth_distances(X, 4, asked, **options)])
        assert_same([*index.within(0.3, asked)], [*within(X, 0.3, asked, **options)])
        weights = np.linspace(1, 2, 700)
        assert_same(
            [index.count_within(0.3, asked), index.count_within(0.3, asked, weights)],
            [count_within(X, 0.3, asked, **options),
             count_within(X, 0.3, asked, weights=weights, **options)],
        )  # fmt: skip
    cores = index.kth_distances(5)[0]
    for given_cores in (None, cores):
        tree = spanning_tree(X, given_cores, **options)
        assert_same([*vars(index.spanning_tree(given_cores)).values()], [*vars(tree).values()])


@pytest.mark.parametrize("method", METHODS)
def test_queries_of_the_other_precision_see_the_same_numbers(method: str) -> None:
    X, queries = grid(0, 400, 3, np.float32), rows(30, 3)
    mixed = Index(X, method=method)
    assert_same(answers(mixed, queries), answers(Index(X.astype(float), method=method), queries))
    narrow = queries.astype(np.float32)
    assert_same(answers(mixed, narrow), answers(mixed, narrow.astype(float)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_may_change_or_go_afterwards(method: str, order: Any, dtype: Any) -> None:
    X, queries = np.asarray(grid(0, 300, 3, dtype), order=order), grid(1, 20, 3)
    expected = answers(Index(X.copy(), method=method), queries)
    index = Index(X, method=method)
    X[:] = np.nan
    del X
    assert_same(answers(index, queries), expected)


@pytest.mark.parametrize(
    ("metric", "params", "method"),
    [(metric, {}, method) for method in METHODS for metric in ("euclidean", "cosine")]
    + [("minkowski", {"p": 3, "w": [1.0, 0.5, 2.0]}, "kdtree"), ("mahalanobis", {}, "auto"),
       ("seuclidean", {}, "kdtree"), ("jaccard", {}, "auto"), (taxicab, {}, "auto"),
       ("gower", {"weights": [1.0, 2.0, 1.0]}, "auto")],
)  # fmt: skip
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_pickles_and_copies_answer_alike(
    metric: Any, params: dict[str, Any], method: str, again: Any
) -> None:
    X, queries = grid(0, 60, 3), grid(1, 9, 3)
    index = Index(X, metric=metric, method=method, n_threads=2, **params)
    other = again(index)
    assert_same(answers(other, queries), answers(index, queries))
    assert (other.by_tree, other.n_threads, other.metric.name) == (
        index.by_tree, 2, index.metric.name
    )  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_pickles(metric: str) -> None:
    X = np.abs(rows(9, 2)) / 4
    made = as_metric(metric, X)
    again = pickle.loads(pickle.dumps(made))
    prepared = made.prepare(X)
    np.testing.assert_array_equal(again.prepare(X), prepared)
    np.testing.assert_array_equal(
        again.lengths(prepared, prepared), made.lengths(prepared, prepared)
    )


def test_threads_may_ask_at_once() -> None:
    X, queries = rows(3000, 3), rows(200, 3, seed=1)
    for method in METHODS:
        index = Index(X[: 3000 if method == "kdtree" else 600], method=method)
        expected = answers(index, queries)
        with ThreadPoolExecutor(6) as pool:
            for found in pool.map(answers, 12 * [index], 12 * [queries]):
                assert_same(found, expected)


def test_one_tree_serves_all_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    class Counted(coterie.neighbors.index.kernels.Index):  # type: ignore[misc]
        def __init__(self, *args: Any) -> None:
            built.append(args)
            super().__init__(*args)

    monkeypatch.setattr(coterie.neighbors.index.kernels, "Index", Counted)
    index = Index(rows(500, 2))
    answers(index, rows(5, 2))
    assert len(built) == 1
    coterie.HDBSCAN().fit(rows(500, 2))
    assert len(built) == 2


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda index: index.knn(0), r"Index: n_neighbors=0 and X has 9 rows; use a whole number"),
        (lambda index: index.kth_distances(10), r"Index: k=10 and X has 9 rows"),
        (lambda index: index.within(-1), r"Index: radius=-1 was given; use a number of zero"),
        (lambda index: index.count_within(1, weights=[1]), r"Index: weights have shape \(1,\)"),
        (lambda index: index.spanning_tree([1.0]), r"Index: core_distances have shape \(1,\)"),
        (lambda index: index.knn(1, [[1.0]]), r"^Index: X has 2 columns and the queries have 1"),
        (lambda index: index.knn(1, [[1.0, np.nan]]), r"Index: .*NaN"),
        (lambda index: Index(np.zeros((9, 2)), method="ball"), r"Index: method='ball' was given"),
        (lambda index: Index(np.zeros((9, 2)), n_threads=0), r"Index: n_threads=0"),
    ],
)
def test_mistakes_are_told(ask: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ask(Index(np.zeros((9, 2))))


def test_an_index_that_lives_until_the_end_prints_nothing() -> None:
    code = """
import subprocess, sys
script = '''
import numpy as np
from coterie.neighbors import Index
kept = Index(np.zeros((500, 2)))
import builtins
builtins.also_kept = [kept, Index(np.zeros((5, 2)))]
'''
done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
"""
    assert outcomes({"kept": code}, "") == {"kept": "done"}


def test_a_fork_may_ask_what_its_parent_built() -> None:
    code = """
import os
import numpy as np
from coterie.neighbors import Index
index = Index(np.random.default_rng(0).normal(size=(3000, 2)), n_threads=2)
expected = index.knn(3).ids
child = os.fork()
if child == 0:
    os._exit(0 if (index.knn(3).ids == expected).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    assert outcomes({"fork": code}, "") == {"fork": "done"}
