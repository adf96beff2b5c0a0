"""Rows of a memory-mapped `.npy` file, read some megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data.source import Ints, RowsByNumber, Some


class NpySource(RowsByNumber):
    """A memory map of float32 or float64, never copied; rows by number come without a pass."""

    #: Bytes of rows a block holds.
    block_bytes = 1 << 26

    def __init__(
        self,
        rows: np.memmap[Any, Any],
        weights: npt.NDArray[np.float64] | None = None,
        n_threads: int = 1,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        n_rows, n_cols = (int(size) for size in rows.shape)
        super().__init__(
            n_cols, rows.dtype, names=names, n_rows=n_rows, weights=weights, n_threads=n_threads
        )
        self.rows = rows

    def __str__(self) -> str:
        return f"the memory map {self.rows.filename or ''}".rstrip()

    def _pieces(self) -> Iterator[Any]:
        step = max(1, self.block_bytes // max(1, self.n_cols * self.dtype.itemsize))
        for start in range(0, self.n_rows, step):
            yield np.asarray(self.rows[start : start + step])

    def _total_until(self, last: int, wanted: Ints) -> Some:
        """The wanted rows, by random access."""
        return Some((np.asarray(self.rows[distinct(wanted)]),)) if wanted.size else Some(())
