"""Source: the same rows in order, however they are cut, and nothing copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.data import Block, Source, as_source


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
    monkeypatch.setattr(Source, "block_bytes", n_rows_each * 5 * 4 + 3)
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
    monkeypatch.setattr(Source, "block_bytes", 7)
    assert [block.n_rows for block in as_source(memory_map)] == [1] * 103


def test_blocks_can_be_read_again(memory_map: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source, "block_bytes", 200)
    blocks = as_source(memory_map)
    assert [block.start for block in blocks] == [block.start for block in blocks]


def test_totals_are_added_in_block_order(memory_map: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source, "block_bytes", 40 * 20)

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
