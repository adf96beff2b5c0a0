"""Sources: the same rows in order, however they are cut, and nothing copied.

Covers coterie.data.array, coterie.data.npy, coterie.data.opened, coterie.data.derived and
coterie._in_memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from coterie import _in_memory
from coterie.data import ArraySource, Block, RowsByNumber, as_source
from coterie.data.npy import NpySource
from coterie.errors import DataError
from streams import Stream


@pytest.fixture
def rows() -> Any:
    return np.random.default_rng(0).standard_normal((103, 5)).astype(np.float32)


@pytest.fixture
def memory_map(rows: Any, tmp_path: Path) -> Any:
    np.save(tmp_path / "rows.npy", rows)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


def test_an_array_is_one_block_and_not_copied(rows: Any) -> None:
    weights = np.arange(103.0)
    (block,) = as_source(rows, weights, 3)
    assert block.rows is rows
    assert np.shares_memory(block.weights, weights)
    assert (block.start, block.n_rows, block.n_threads) == (0, 103, 3)
    assert block.span == slice(0, 103)


def test_sparse_rows_are_one_block(rows: Any) -> None:
    csr = sp.csr_array(rows)
    blocks = as_source(csr)
    (block,) = blocks
    assert block.rows is csr
    assert blocks.sparse
    assert blocks.in_memory


@pytest.mark.parametrize("n_rows_each", [1, 2, 10, 102, 103, 104, 1000])
def test_a_memory_map_is_read_block_by_block(
    memory_map: Any, rows: Any, n_rows_each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A few bytes more than whole rows must not make a block larger.
    monkeypatch.setattr(NpySource, "block_bytes", n_rows_each * 5 * 4 + 3)
    weights = np.arange(103.0)
    blocks = as_source(memory_map, weights)
    assert not blocks.in_memory
    seen = list(blocks)
    assert len(seen) == -(-103 // n_rows_each)
    assert [block.start for block in seen] == list(range(0, 103, n_rows_each))
    assert all(block.n_rows <= n_rows_each for block in seen)
    np.testing.assert_array_equal(np.concatenate([block.rows for block in seen]), rows)
    np.testing.assert_array_equal(np.concatenate([block.weights for block in seen]), weights)
    covered = np.zeros(103, dtype=int)
    for block in seen:
        covered[block.span] += 1
        assert np.shares_memory(block.rows, memory_map)
    assert (covered == 1).all()


def test_rows_longer_than_a_block_come_one_at_a_time(
    memory_map: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NpySource, "block_bytes", 7)
    assert [block.n_rows for block in as_source(memory_map)] == [1] * 103


def test_blocks_can_be_read_again(memory_map: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NpySource, "block_bytes", 200)
    blocks = as_source(memory_map)
    assert [block.start for block in blocks] == [block.start for block in blocks]


def test_totals_are_added_in_block_order(memory_map: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NpySource, "block_bytes", 40 * 20)

    def where(block: Block, mark: str) -> str:
        return f"{mark}{block.start}"

    assert as_source(memory_map).total(where, "@") == "@0@40@80"


def test_rows_are_taken_by_index_as_float64(rows: Any, memory_map: Any) -> None:
    ids = [100, 0, 3, 3]
    for source in (rows, memory_map, sp.csr_array(rows), np.asfortranarray(rows)):
        taken = as_source(source).take(ids)
        assert taken.dtype == np.float64
        assert isinstance(taken, np.ndarray)
        np.testing.assert_array_equal(taken, rows[ids].astype(np.float64))


def test_sizes_and_types(memory_map: Any) -> None:
    blocks = as_source(memory_map)
    assert (blocks.n_rows, blocks.n_cols, blocks.dtype) == (103, 5, np.float32)
    assert blocks.weights is None


SIZES = [(1,), (7, 0, 64, 1), (50,), (1000,)]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_stream_is_numbered_and_counted_as_it_comes(rows: Any, sizes: Any) -> None:
    stream = Stream(rows, sizes, weights=np.arange(103.0))
    covered = np.zeros(103, dtype=int)
    for block in stream:
        assert block.n_rows > 0
        np.testing.assert_array_equal(block.rows, rows[block.span])
        np.testing.assert_array_equal(block.weights, np.arange(103.0)[block.span])
        covered[block.span] += 1
    assert (covered == 1).all()
    assert stream.n_rows == 103
    assert stream.n_passes == 1
    assert Stream(rows, sizes).n_rows == 103


@pytest.mark.parametrize("sizes", SIZES)
def test_rows_of_a_stream_are_picked_in_any_order(rows: Any, sizes: Any) -> None:
    ids = np.array([100, 0, 3, 3, 102])
    stream = Stream(rows, sizes, weights=np.arange(103.0))
    picked = stream.pick(ids)
    assert isinstance(picked, ArraySource)
    np.testing.assert_array_equal(picked.rows, rows[ids])
    np.testing.assert_array_equal(picked.weights, ids)
    np.testing.assert_array_equal(stream.take([5]), rows[[5]].astype(np.float64))
    assert stream.pick([]).rows.shape == (0, 5)
    with pytest.raises(IndexError, match="no row 103"):
        stream.pick([103])


@pytest.mark.parametrize("sizes", SIZES)
def test_samples_are_those_of_rows_in_memory(rows: Any, sizes: Any) -> None:
    for size in (10, 103, 500):
        ours, theirs = (
            source.sample(size, 5, np.random.RandomState(0))
            for source in (Stream(rows, sizes), as_source(rows))
        )
        np.testing.assert_array_equal(ours.rows, theirs.rows)


@pytest.mark.parametrize("sizes", SIZES)
def test_windows_do_not_depend_on_the_cut(rows: Any, sizes: Any) -> None:
    weights = np.arange(103.0)
    windows = list(Stream(rows, sizes, weights=weights).windows(20))
    assert [window.n_rows for window in windows] == [20] * 5 + [3]
    np.testing.assert_array_equal(np.concatenate([window.rows for window in windows]), rows)
    np.testing.assert_array_equal(np.concatenate([window.weights for window in windows]), weights)


def test_batches_are_every_row_once(rows: Any) -> None:
    for source in (Stream(rows), as_source(rows)):
        batches = list(source.batches(10, np.random.RandomState(0)))
        assert {batch.n_rows for batch in batches} == {10, 3}
        together = np.concatenate([batch.rows for batch in batches])
        assert not np.array_equal(together, rows)
        np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(rows, axis=0))


def test_results_come_block_by_block_and_together(rows: Any) -> None:
    def double(block: Block, factor: float, out: Any) -> None:
        out[:] = block.rows * factor

    for source in (Stream(rows), as_source(rows), Stream(rows, (1,))):
        whole = source.map(double, 2.0, dtype=np.float64, width=5)
        np.testing.assert_array_equal(whole, rows * 2.0)
        parts = list(source.results(double, 2.0, dtype=np.float64, width=5))
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def to_sparse(rows: Any) -> Any:
    return sp.csr_matrix(rows.astype(np.float32))


def test_transformed_and_filtered_rows(rows: Any) -> None:
    weights = np.arange(103.0)
    keep = rows[:, 0] > 0
    for source in (Stream(rows, weights=weights), as_source(rows, weights)):
        doubled = source.through(lambda rows: rows * 2)
        np.testing.assert_array_equal(doubled.pick(np.arange(103)).rows, rows * 2)
        narrow = source.through(lambda rows: rows[:, :2], n_cols=2)
        assert (narrow.n_cols, narrow.n_rows) == (2, 103)
        made = source.through(to_sparse, sparse=True, dtype=np.float32)
        assert (made.sparse, made.dtype) == (True, np.float32)
        np.testing.assert_array_equal(made.take([5, 3]), rows[[5, 3]].astype(np.float32))
        some = source.where(lambda rows: rows[:, 0] > 0)
        assert some.n_rows == keep.sum()
        np.testing.assert_array_equal(some.pick(np.arange(some.n_rows)).rows, rows[keep])
        np.testing.assert_array_equal(some.weights, weights[keep])


def test_a_stream_that_changes_is_told(rows: Any) -> None:
    stream = Stream(rows)
    assert stream.n_rows == 103
    stream._all = rows[:50]
    with pytest.raises(DataError, match=r"had 103 rows .* has 50 now"):
        list(stream)


@pytest.mark.parametrize("n_weights", [50, 200])
def test_weights_that_fit_no_row_are_told(rows: Any, n_weights: int) -> None:
    with pytest.raises(ValueError, match=f"sample_weight has {n_weights} entries"):
        list(Stream(rows, weights=np.ones(n_weights)))


def test_no_rows_have_no_total(rows: Any) -> None:
    with pytest.raises(DataError, match="no rows"):
        Stream(rows[:0]).total(lambda block: 1)


def test_rows_are_taken_into_memory_where_they_fit(
    rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = _in_memory.taken_in("KMeans", Stream(rows), "a tree")
    np.testing.assert_array_equal(taken.rows, rows)
    assert _in_memory.taken_in("KMeans", taken, "a tree") is taken
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="KMeans: a tree needs all rows in memory"):
        _in_memory.rows_in_memory("KMeans", Stream(rows), "a tree")


def test_who_hands_out_rows(rows: Any, memory_map: Any) -> None:
    assert isinstance(as_source(rows), RowsByNumber)
    assert isinstance(as_source(memory_map), RowsByNumber)
    assert not isinstance(Stream(rows), RowsByNumber)
    assert as_source(Stream(rows), np.ones(103)).weights is not None
