"""Codes in inverted lists: the rows of a list side by side, in blocks as the kernels scan them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.search._code_blocks import BLOCK_ROWS, Bytes
from coterie.search._index_file import damaged

Ints = npt.NDArray[np.int64]


class Lists(NamedTuple):
    """Places of list l are those from ``row_starts[l]`` to ``row_starts[l + 1]``.

    ``rows[place]`` is the row that is held there. Every list begins with a block of its own.
    """

    blocks: Bytes
    row_starts: Ints
    rows: Ints

    @property
    def n_lists(self) -> int:
        """How many lists there are, with rows or without."""
        return len(self.row_starts) - 1


def in_lists(labels: npt.NDArray[Any], codes: Bytes, n_lists: int) -> Lists:
    """Lists of rows whose bytes are `codes`; row i is in list ``labels[i]``."""
    sizes = np.bincount(labels, minlength=n_lists)
    row_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.argsort(labels, kind="stable").astype(np.int64)
    n_blocks = int((-(-sizes // BLOCK_ROWS)).sum())
    padded = np.zeros((n_blocks * BLOCK_ROWS, codes.shape[1]), dtype=np.uint8)
    padded[_slots(row_starts)] = codes[rows]
    blocks = padded.reshape(n_blocks, BLOCK_ROWS, codes.shape[1]).transpose(0, 2, 1)
    return Lists(np.ascontiguousarray(blocks), row_starts, rows)


def out_of_lists(lists: Lists) -> tuple[Ints, Bytes]:
    """The list of every row, and its bytes, in the order of rows."""
    labels = np.empty(len(lists.rows), dtype=np.int64)
    labels[lists.rows] = np.repeat(np.arange(lists.n_lists), np.diff(lists.row_starts))
    width = lists.blocks.shape[1]
    codes = np.empty((len(lists.rows), width), dtype=np.uint8)
    slots = _slots(lists.row_starts)
    codes[lists.rows] = lists.blocks[slots // BLOCK_ROWS, :, slots % BLOCK_ROWS]
    return labels, codes


def list_maxima(lists: Lists, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The largest value, zero at least, of the rows of every list."""
    maxima = np.zeros(lists.n_lists, dtype=np.float32)
    labels = np.repeat(np.arange(lists.n_lists), np.diff(lists.row_starts))
    np.maximum.at(maxima, labels, values[lists.rows])
    return maxima


def check_lists(lists: Lists, n_rows: int, n_lists: int, width: int) -> None:
    """Refuse what a file brought unless every row is in one list."""
    blocks, row_starts, rows = lists
    sound = (
        row_starts.dtype == rows.dtype == np.int64
        and row_starts.shape == (n_lists + 1,)
        and rows.shape == (n_rows,)
        and row_starts[0] == 0
        and row_starts[-1] == n_rows
        and (np.diff(row_starts) >= 0).all()
        and np.array_equal(np.sort(rows), np.arange(n_rows))
    )
    if not sound:
        raise damaged("its lists do not hold every row once")
    n_blocks = int((-(-np.diff(row_starts) // BLOCK_ROWS)).sum())
    if blocks.dtype != np.uint8 or blocks.shape != (n_blocks, width, BLOCK_ROWS):
        raise damaged("its blocks are of another type or shape")


def _slots(row_starts: Ints) -> Ints:
    """Where every place is among the rows of all blocks."""
    sizes = np.diff(row_starts)
    n_blocks = -(-sizes // BLOCK_ROWS)
    first = np.cumsum(n_blocks) - n_blocks
    shifts = first * BLOCK_ROWS - row_starts[:-1]
    return np.asarray(np.arange(row_starts[-1]) + np.repeat(shifts, sizes), dtype=np.int64)
