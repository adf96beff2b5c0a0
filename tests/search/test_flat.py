"""FlatIndex gives the bits of brute force, whatever the rows, the threads and the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from brute_twin import brute
from coterie import neighbors
from coterie.search import FlatIndex
from coterie.search._index import METRICS

KINDS = {
    "plain": lambda X: X,
    "whole numbers": np.round,
    "far from zero": lambda X: X + 1e4,
    "huge": lambda X: X * 1e25,
    "tiny": lambda X: np.where(np.arange(len(X))[:, None] % 3, X * 1e-30, 0),
    "copies": lambda X: np.where(np.arange(len(X))[:, None] % 5, X[:1], 0),
    "one far away": lambda X: np.where(np.arange(len(X))[:, None] == 7, X * 1e6, X),
    "of all sizes": lambda X: X * 10.0 ** (np.arange(len(X))[:, None] % 40 - 20),
    "one column tells": lambda X: X * np.where(np.arange(X.shape[1]) == 0, 1e5, 1),
}


def rows_of(kind: str, n: int, d: int, dtype: Any, seed: int = 0) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    return np.asarray(KINDS[kind](rng.normal(size=(n, d)))).astype(dtype)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_gives_the_bits_of_brute_force(metric: str, kind: str, dtype: str) -> None:
    for n, d, n_queries, k in [
        (900, 70, 31, 10),
        (333, 7, 13, 5),
        (50, 3, 5, 60),
        (700, 1, 9, 300),
    ]:
        X, Q = rows_of(kind, n, d, dtype), rows_of(kind, n_queries, d, dtype, 1)
        Q[:2] = X[5:7]
        ids = np.random.default_rng(2).permutation(3 * n)[:n]
        index = FlatIndex(metric=metric, dtype=dtype).add(X, ids)
        dists, found = brute(X, ids, Q, k, metric)
        answer = index.search(Q, k)
        assert_array_equal(answer.ids, found)
        assert_array_equal(answer.dists, dists)


def test_many_equal_rows_overflow_no_shortlist() -> None:
    X = np.repeat(rows_of("plain", 4, 12, "float32"), 2500, axis=0)
    Q = X[::997]
    answer = FlatIndex().add(X).search(Q, 7)
    dists, found = brute(X, np.arange(len(X)), Q, 7, "euclidean")
    assert_array_equal(answer.ids, found)
    assert_array_equal(answer.dists, dists)


@pytest.mark.parametrize("method", ["kdtree", "brute"])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_gives_the_bits_of_the_other_index(
    kind: str, dtype: str, metric: str, method: str
) -> None:
    X, Q = rows_of(kind, 2000, 24, dtype), rows_of(kind, 40, 24, dtype, 1)
    answer = FlatIndex(metric=metric, dtype=dtype).add(X).search(Q, 8)
    other = neighbors.Index(X, metric=metric, method=method).knn(8, Q)
    assert_array_equal(answer.ids, other.ids)
    assert_array_equal(answer.dists, other.dists)


def test_threads_and_the_order_of_adding_change_nothing() -> None:
    X, Q = rows_of("whole numbers", 5000, 6, "float32"), rows_of("whole numbers", 300, 6, "f4", 1)
    ids = np.random.default_rng(0).permutation(len(X))
    first = FlatIndex(n_threads=1).add(X, ids).search(Q, 20)
    for n_threads in (2, 3, 8):
        order = np.random.default_rng(n_threads).permutation(len(X))
        index = FlatIndex(n_threads=n_threads)
        for part in np.array_split(order, 7):
            index.add(X[part], ids[part])
        again = index.search(Q, 20)
        assert_array_equal(again.ids, first.ids)
        assert_array_equal(again.dists, first.dists)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_small_table(data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 9))
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    width = 32 if dtype == "float32" else 64
    value = st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(2.0**-60, 2.0**60, width=width),  # type: ignore[arg-type]
        st.floats(-(2.0**60), -(2.0**-60), width=width),  # type: ignore[arg-type]
    )
    table = st.lists(st.lists(value, min_size=d, max_size=d), min_size=1, max_size=40)
    X, Q = (np.array(data.draw(table), dtype=dtype) for _ in range(2))
    metric, k = data.draw(st.sampled_from(METRICS)), data.draw(st.integers(1, 12))
    answer = FlatIndex(metric=metric, dtype=dtype).add(X).search(Q, k)
    dists, found = brute(X, np.arange(len(X)), Q, k, metric)
    assert_array_equal(answer.dists, dists)
    assert_array_equal(answer.ids, found)
