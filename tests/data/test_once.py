"""Batches that come once."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.data import OnceSource, as_source, is_once
from coterie.errors import DataError


def some_rows(n_rows: int = 100, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(0).normal(size=(n_rows, 3)).astype(dtype)


def in_one_buffer(rows: Any, size: int) -> Any:
    """Batches that share their memory, as those of a careful reader do."""
    buffer = np.empty((size, rows.shape[1]), dtype=rows.dtype)
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        buffer[: len(part)] = part
        yield buffer[: len(part)]
        buffer[:] = np.nan


def test_first_rows_are_looked_at_and_come_all_the_same() -> None:
    rows = some_rows()
    source = OnceSource(in_one_buffer(rows, 7))
    np.testing.assert_array_equal(source.first(10).rows, rows[:10])
    np.testing.assert_array_equal(source.first(3).rows, rows[:3])
    assert source.n_batches == 2
    np.testing.assert_array_equal(np.concatenate([block.rows.copy() for block in source]), rows)
    assert source.n_rows == 100


def test_more_rows_than_there_are() -> None:
    source = OnceSource(iter([some_rows(4), some_rows(5)]))
    assert source.first(1000).n_rows == 9
    assert sum(block.n_rows for block in source) == 9


@pytest.mark.parametrize("again", [lambda source: source, copy, as_source])
def test_a_second_pass_is_refused_also_of_copies(again: Any) -> None:
    source = as_source(iter([some_rows()]))
    other = again(source)
    for _ in source:
        pass
    with pytest.raises(DataError, match=r"list_iterator of batches can be read once.*file"):
        next(iter(other))


def test_batches_are_of_the_type_of_the_first() -> None:
    narrow = some_rows(4, np.float32)
    source = as_source(iter([narrow, narrow.astype(np.float64), [[1, 2, 3]]]))
    assert source.dtype == np.float32
    assert {block.rows.dtype for block in source} == {np.dtype(np.float32)}
    assert as_source(iter([np.arange(6).reshape(2, 3)])).dtype == np.float64


def test_sparse_batches_are_sparse_blocks() -> None:
    rows = sp.random_array((30, 4), density=0.3, random_state=0)
    source = as_source(part for part in (rows.tocsr()[:10], rows.tocsr()[10:].tocoo()))
    assert source.sparse
    found = sp.vstack([block.rows for block in source])
    np.testing.assert_array_equal(found.toarray(), rows.toarray())


def test_batches_without_rows_are_passed_over_but_counted() -> None:
    none = some_rows(0)
    source = OnceSource(iter([none, some_rows(2), none, some_rows(3)]))
    assert [block.start for block in source] == [0, 2]
    assert source.n_batches == 4


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([], "ended after 0 batches without a row"),
        ([some_rows(0)] * 3, "ended after 3 batches without a row"),
        ([some_rows(2), some_rows(2)[:, :2]], "batch 1 has 2 columns and the first had 3"),
        ([some_rows(2), [[1.0]]], "batch 1 has 1 columns and the first had 3"),
        ([some_rows(2), sp.csr_array(some_rows(2))], "batch 1 is sparse and the first was dense"),
        ([sp.csr_array(some_rows(2)), some_rows(2)], "batch 1 is dense and the first was sparse"),
        ([np.arange(3.0)], r"batch 0 is ndarray of shape \(3,\)"),
        (["a,b,c"], "batch 0 is str"),
    ],
)
def test_what_is_no_batch_is_told_by_its_number(batches: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        for _ in as_source(iter(batches)):
            pass


def test_what_comes_once() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.0, 2.0]})
    once = (iter([1]), (x for x in ()), table.to_reader(), OnceSource(iter([some_rows()])))
    assert all(is_once(x) for x in once)
    assert not any(is_once(x) for x in ([some_rows()], some_rows(), "path", table))
