"""Rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data.source import RowsByNumber


class ArraySource(RowsByNumber):
    """A float32 or float64 array of any strides, or a CSR matrix: one block, never copied.

    `rows` are for what needs random access: bounds, covers, trees, graphs.
    """

    in_memory = True

    def __init__(
        self,
        rows: Any,
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
        self.sparse = sp.issparse(rows)

    def __str__(self) -> str:
        return "X"

    def _pieces(self) -> Iterator[Any]:
        yield self.rows

    def pick(self, row_ids: npt.ArrayLike) -> ArraySource:
        """These rows as a source of their own; the source itself for all in order."""
        ids = np.asarray(row_ids, dtype=np.intp)
        if ids.size == self.n_rows and np.array_equal(ids, np.arange(self.n_rows)):
            return self
        weights = None if self.weights is None else self.weights[ids]
        rows = self.rows[ids]
        return ArraySource(
            rows if self.sparse else np.asarray(rows), weights, self.n_threads, names=self.names
        )

    def take(self, row_ids: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The rows with these indices, dense, as float64: a copy."""
        rows = self.rows[np.asarray(row_ids, dtype=np.intp)]
        return np.asarray(rows.toarray() if self.sparse else rows, dtype=np.float64)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[ArraySource]:
        """Every row once, in random order and so many at a time."""
        order = rng.permutation(self.n_rows)
        for first in range(0, self.n_rows, size):
            yield self.pick(order[first : first + size])

    def through(
        self,
        transform: Callable[[Any], Any],
        *,
        n_cols: int | None = None,
        sparse: bool | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> ArraySource:
        """The rows as `transform` makes them, at once; they tell what they are."""
        rows = transform(self.rows)
        names = self.names if rows.shape[1] == self.n_cols else None
        return ArraySource(rows, self.weights, self.n_threads, names=names)

    def where(self, keeps: Callable[[Any], npt.NDArray[np.bool_]]) -> ArraySource:
        """Those rows that `keeps` says to keep."""
        return self.pick(np.flatnonzero(keeps(self.rows)))
