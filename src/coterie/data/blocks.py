"""Blocks: rows with weights, a block at a time, wherever they live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.random import sample_without_replacement

Summary = TypeVar("Summary")


@dataclass(frozen=True)
class Block:
    """Adjacent rows of a source, ready for a kernel.

    `rows` is a float32 or float64 array of any strides or a CSR matrix, `weights` float64 or None
    for one each, `start` the index of the first row in the source.
    """

    rows: Any
    weights: npt.NDArray[np.float64] | None
    start: int
    n_threads: int

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def span(self) -> slice:
        """Where these rows stand in an array of one entry a row of the source."""
        return slice(self.start, self.start + self.n_rows)

    def parts(self, n_rows: int) -> Iterator[Block]:
        """The block in parts of so many rows, the last of what is left."""
        for begin in range(0, self.n_rows, n_rows):
            here = slice(begin, begin + n_rows)
            weights = None if self.weights is None else self.weights[here]
            yield Block(self.rows[here], weights, self.start + begin, self.n_threads)


class Blocks:
    """A source of row blocks; an array is one block, a memory map is many.

    Parameters
    ----------
    rows
        Array (n_rows, n_cols) of float32 or float64, or CSR matrix. A `numpy.memmap` is read
        `block_bytes` at a time and is never copied.
    weights
        One float64 a row, or None.
    n_threads
        How many threads a kernel may use on a block.
    """

    #: Bytes of rows a streamed block holds.
    block_bytes = 1 << 26

    def __init__(
        self, rows: Any, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
    ) -> None:
        self.rows = rows
        self.weights = weights
        self.n_threads = n_threads
        self.n_rows, self.n_cols = (int(size) for size in rows.shape)
        self.dtype = np.dtype(rows.dtype)
        self.sparse = sp.issparse(rows)
        #: Whether per-row scratch (bounds, distances) is affordable: not for rows left on disk.
        self.in_memory = not isinstance(rows, np.memmap)

    def __iter__(self) -> Iterator[Block]:
        for start in self._starts():
            yield self._block(start)

    def _starts(self) -> range:
        """First rows of the blocks."""
        step = self.n_rows
        if not self.in_memory:
            step = max(1, self.block_bytes // max(1, self.n_cols * self.dtype.itemsize))
        return range(0, self.n_rows, step)

    def _block(self, start: int) -> Block:
        stop = min(self.n_rows, start + self._starts().step)
        rows = self.rows if stop - start == self.n_rows else np.asarray(self.rows[start:stop])
        weights = None if self.weights is None else self.weights[start:stop]
        return Block(rows, weights, start, self.n_threads)

    def total(self, kernel: Callable[..., Summary], *model: Any) -> Summary:
        """Add up `kernel(block, *model)` over all blocks, in block order."""
        parts = (kernel(block, *model) for block in self)
        total = next(parts)
        for part in parts:
            total = total + part  # type: ignore[operator]
        return total

    def map(self, kernel: Callable[..., Any], out: npt.NDArray[Any], *model: Any) -> None:
        """Fill `out`, which has an entry a row, by `kernel(block, *model, out of its rows)`."""
        for block in self:
            kernel(block, *model, out[block.span])

    def pick(self, row_ids: npt.NDArray[np.integer[Any]]) -> Blocks:
        """These rows, in memory, as a source of their own; the source itself for all of them."""
        if row_ids.size == self.n_rows:
            return self
        rows = self.rows[row_ids]
        weights = None if self.weights is None else self.weights[row_ids]
        return Blocks(rows if self.sparse else np.asarray(rows), weights, self.n_threads)

    def sample(self, size: int, at_least: int, rng: np.random.RandomState) -> Blocks:
        """So many rows with weight, none twice; all rows where fewer than `at_least` have any."""
        weighty = None if self.weights is None else np.flatnonzero(self.weights)
        n_weighty = self.n_rows if weighty is None else weighty.size
        if size >= self.n_rows or n_weighty < at_least:
            return self
        chosen = sample_without_replacement(n_weighty, min(size, n_weighty), random_state=rng)
        return self.pick(chosen if weighty is None else weighty[chosen])

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[Blocks]:
        """Every row once, in random order and so many at a time, each batch in memory.

        Rows on disk are read as usual: blocks in random order, and rows shuffled within each.
        """
        for start in rng.permutation(self._starts()):
            block = self._block(int(start))
            order = rng.permutation(block.n_rows)
            for first in range(0, block.n_rows, size):
                row_ids = order[first : first + size]
                weights = None if block.weights is None else block.weights[row_ids]
                yield Blocks(block.rows[row_ids], weights, self.n_threads)

    def take(self, row_ids: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The rows with these indices, dense, as float64."""
        taken = self.rows[np.asarray(row_ids, dtype=np.intp)]
        return np.asarray(taken.toarray() if self.sparse else taken, dtype=np.float64)


def as_blocks(
    rows: Any, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
) -> Blocks:
    """Blocks over checked rows; see `Blocks`."""
    return Blocks(rows, weights, n_threads)
