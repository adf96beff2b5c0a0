"""Rows of an iterator of batches, which come by once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from coterie.data.array import ArraySource
from coterie.data.source import Source, stacked
from coterie.errors import DataError


def is_once(rows: Any) -> bool:
    """Whether rows come as batches that can be had once: a generator, a RecordBatchReader."""
    return isinstance(rows, (Iterator, OnceSource))


class OnceSource(Source):
    """The batches of an iterator, one after the other, on the only pass there can be.

    All are of the type of the first, dense or CSR. The first rows can be looked at before the
    pass, which has them all the same. Memory: one batch, and what was looked at.

    Parameters
    ----------
    batches
        Gives tables of rows; those of no rows are passed over.
    as_rows
        Makes an array or a CSR matrix of a batch and its number, which counts from 0.
    n_threads
        How many threads a kernel may use on a block.
    """

    def __init__(
        self,
        batches: Iterator[Any],
        as_rows: Callable[[Any, int], Any] | None = None,
        n_threads: int = 1,
    ) -> None:
        self._name = f"the {type(batches).__name__} of batches"
        self._unread = _Unread(batches, as_rows or plain_rows)
        first = self._unread.peek(1)
        if not first:
            raise DataError(
                f"{self._name} ended after {self._unread.n_batches} batches without a row; pass "
                "an iterator that gives some and was not used before."
            )
        super().__init__(first[0].shape[1], first[0].dtype, n_threads=n_threads)
        self.sparse = sp.issparse(first[0])

    def __str__(self) -> str:
        return self._name

    @property
    def n_batches(self) -> int:
        """How many batches were asked for so far."""
        return self._unread.n_batches

    def first(self, n_rows: int) -> ArraySource:
        """The first rows in memory, so many if there are; the pass still has them."""
        rows = stacked(self._unread.peek(n_rows), self.sparse)
        return ArraySource(rows[:n_rows], n_threads=self.n_threads)

    def _pieces(self) -> Iterator[Any]:
        if self._unread.begun:
            raise DataError(
                f"{self} can be read once, and this method needs another pass; write the rows to a "
                "file and pass its path, pass them all in one array, or use MiniBatchKMeans, which "
                "needs a single pass."
            )
        return iter(self._unread)


class _Unread:
    """What of the batches was not handed out, shared by copies of a source."""

    def __init__(self, batches: Iterator[Any], as_rows: Callable[[Any, int], Any]) -> None:
        self.begun = False
        self.n_batches = 0
        self._batches, self._as_rows = batches, as_rows
        self._held: list[Any] = []
        self._first: Any = None

    def peek(self, n_rows: int) -> list[Any]:
        """Batches with at least so many rows together, where there are as many; kept."""
        while sum(rows.shape[0] for rows in self._held) < n_rows:
            rows = self._next()
            if rows is None:
                break
            self._held.append(rows.copy())  # whoever makes batches may use one buffer for all
        return self._held

    def __iter__(self) -> Iterator[Any]:
        self.begun = True
        while self._held:
            yield self._held.pop(0)
        while (rows := self._next()) is not None:
            yield rows

    def _next(self) -> Any:
        """The next batch that has rows; None at the end."""
        for batch in self._batches:
            number, self.n_batches = self.n_batches, self.n_batches + 1
            shape = getattr(batch, "shape", ())
            if shape[:1] == (0,):
                continue
            if hasattr(batch, "to_struct_array"):  # a record batch, whose names a table makes known
                batch = _table_of(batch)
            if self._first is not None:
                _check_width(self._first, shape, number)
            rows = self._as_rows(batch, number)
            if self._first is None:
                self._first = rows[:0]
            return _like(self._first, rows, number)
        return None


def _table_of(batch: Any) -> Any:
    import pyarrow as pa

    return batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def _check_width(first: Any, shape: tuple[int, ...], number: int) -> None:
    """Refuse a table of other columns than the first batch has."""
    if len(shape) == 2 and shape[1] != first.shape[1]:
        raise DataError(
            f"batch {number} has {shape[1]} columns and the first had {first.shape[1]}; pass "
            "batches with the same columns."
        )


def _like(first: Any, rows: Any, number: int) -> Any:
    """Rows of the type of the first batch; refused where they are of another kind."""
    _check_width(first, rows.shape, number)
    if sp.issparse(rows) != sp.issparse(first):
        kinds = ("sparse", "dense") if sp.issparse(rows) else ("dense", "sparse")
        raise DataError(
            f"batch {number} is {kinds[0]} and the first was {kinds[1]}; pass batches of one kind."
        )
    with np.errstate(over="ignore"):  # what is too large for float32 is infinite, and told so
        return rows.astype(first.dtype, copy=False)


def plain_rows(batch: Any, number: int) -> Any:
    """A batch as an array of floats or a CSR matrix, trusted but for its shape and type."""
    rows = batch.tocsr() if sp.issparse(batch) else np.asarray(batch)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise DataError(
            f"batch {number} is {type(batch).__name__} of shape {rows.shape} and type "
            f"{rows.dtype}; pass tables of numbers with a row for each thing."
        )
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
