"""What a source of rows promises: blocks in order, totals over them, some rows by number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.random import sample_without_replacement

from coterie._distinct import distinct
from coterie.data._cells import cells_of, is_table
from coterie.errors import DataError

if TYPE_CHECKING:
    from coterie.data.array import ArraySource

Summary = TypeVar("Summary")
Ints = npt.NDArray[np.int64]

#: Rows that are shuffled among each other where rows come in the order of a file.
WINDOW_ROWS = 1 << 16


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
        """Where these rows stand in an array of one entry per row of the source."""
        return slice(self.start, self.start + self.n_rows)

    def parts(self, n_rows: int) -> Iterator[Block]:
        """The block in parts of so many rows, the last of what is left."""
        for begin in range(0, self.n_rows, n_rows):
            here = slice(begin, begin + n_rows)
            weights = None if self.weights is None else self.weights[here]
            yield Block(self.rows[here], weights, self.start + begin, self.n_threads)


class Source(ABC):
    """Rows with weights, a block at a time, wherever they live.

    A *pass* is a function, or a small object that can be called, that pickles and whose answer
    depends on a block and on the model it is given alone: so a source may run it where the rows
    are, in any order, and again where an answer was lost.

    Parameters
    ----------
    n_cols, dtype
        Columns, and their type: float32 or float64.
    names
        Of the columns, where they have any.
    n_rows
        How many rows there are; None: a pass over them will tell.
    weights
        One float64 per row, or None.
    n_threads
        How many threads a kernel may use on a block.
    """

    #: Whether all rows are in memory, so that a few bytes of scratch for each are affordable.
    in_memory = False
    #: Whether blocks hold CSR matrices.
    sparse = False
    #: Whether rows are with other processes, so that work should go to them.
    remote = False

    #: How rows are standardised that were opened so, "mean" and "scale", and the rows before that.
    scaling: dict[str, npt.NDArray[np.float64]] | None = None
    unscaled: Source | None = None

    def __init__(
        self,
        n_cols: int,
        dtype: npt.DTypeLike,
        *,
        names: Sequence[str] | None = None,
        n_rows: int | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.n_cols = int(n_cols)
        self.dtype = np.dtype(dtype)
        self.names = None if names is None else tuple(names)
        self.weights = weights
        self.n_threads = n_threads
        self._known: dict[str, int] = {} if n_rows is None else {"n_rows": n_rows}

    @property
    def _n_rows(self) -> int | None:
        """How many rows there are, as far as that is known: to copies of the source as well."""
        return self._known.get("n_rows")

    @_n_rows.setter
    def _n_rows(self, n_rows: int) -> None:
        self._known["n_rows"] = n_rows

    @abstractmethod
    def _pieces(self) -> Iterator[Any]:
        """The rows in order, some at a time, as kernels take them; a piece may be empty."""

    @property
    def n_rows(self) -> int:
        """How many rows there are; counted by a pass where nothing else has told."""
        known = self._known.get("n_rows")
        if known is not None:
            return known
        for _ in self:
            pass
        return self._known["n_rows"]

    def __iter__(self) -> Iterator[Block]:
        start = 0
        for rows in self._pieces():
            size = int(rows.shape[0])
            if size == 0:
                continue
            self._check_weights(start + size, ended=False)
            weights = None if self.weights is None else self.weights[start : start + size]
            yield Block(rows, weights, start, self.n_threads)
            start += size
        self._check_weights(start, ended=True)
        if self._n_rows is not None and self._n_rows != start:
            raise DataError(
                f"{self} had {self._n_rows} rows when it was read first and has {start} now; do "
                "not change it while it is used."
            )
        self._n_rows = start

    def _check_weights(self, n_rows: int, *, ended: bool) -> None:
        """Refuse rows that have no weight, and weights that have no row."""
        n_weights = n_rows if self.weights is None else len(self.weights)
        if n_weights < n_rows or (ended and n_weights > n_rows):
            raise ValueError(
                f"sample_weight has {n_weights} entries and {self} has "
                f"{'' if ended else 'at least '}{n_rows} rows; pass one weight per row."
            )

    def __str__(self) -> str:
        return "the source of rows"

    def total(self, job: Callable[..., Summary], *model: Any) -> Summary:
        """Add up ``job(block, *model)`` over all blocks, in block order."""
        # No generator of parts: an error would hold it, and with it the reader, as long as it is
        # looked at.
        total: Any = None
        for block in self:
            part = job(block, *model)
            total = part if total is None else total + part
        if total is None:
            raise DataError(f"{self} has no rows; pass at least one.")
        return total

    def results(
        self, job: Callable[..., None], *model: Any, dtype: npt.DTypeLike, width: int | None = None
    ) -> Generator[npt.NDArray[Any], None, None]:
        """What ``job(block, *model, out)`` fills `out` with, block by block.

        `out` has an entry per row of the block, or `width` of them.
        """
        for block in self:
            out = np.empty(_shape(block.n_rows, width), dtype=dtype)
            job(block, *model, out)
            yield out

    def map(
        self, job: Callable[..., None], *model: Any, dtype: npt.DTypeLike, width: int | None = None
    ) -> Any:
        """All `results` as one array."""
        if self._n_rows is None:
            parts = list(self.results(job, *model, dtype=dtype, width=width))
            return np.concatenate(parts) if parts else np.empty(_shape(0, width), dtype=dtype)
        out = np.empty(_shape(self._n_rows, width), dtype=dtype)
        for block in self:
            job(block, *model, out[block.span])
        return out

    def pick(self, row_ids: npt.ArrayLike) -> ArraySource:
        """These rows, in memory, in this order, as a source of their own."""
        from coterie.data.array import ArraySource

        ids = np.asarray(row_ids, dtype=np.int64)
        wanted = distinct(ids)
        found = self._total_until(int(wanted[-1]) if wanted.size else -1, wanted)
        if found.n_rows < wanted.size:
            raise IndexError(f"{self} has no row {int(wanted[-1])}")
        rows = found.rows(self.n_cols, self.dtype, self.sparse)[np.searchsorted(wanted, ids)]
        weights = None if self.weights is None else self.weights[ids]
        return ArraySource(rows, weights, self.n_threads, names=self.names)

    def _total_until(self, last: int, wanted: Ints) -> Some:
        """The wanted rows; nothing is read beyond the last of them."""
        found = Some(())
        if last < 0:
            return found
        for block in self:
            found = found + pick_rows(block, wanted)
            if last < block.span.stop != self._n_rows:
                break  # before the end: a pass that ends by itself may leave something for the next
        return found

    def take(self, row_ids: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The rows with these indices, dense, as float64."""
        rows = self.pick(row_ids).rows
        return np.asarray(rows.toarray() if self.sparse else rows, dtype=np.float64)

    def sample(self, size: int, at_least: int, rng: np.random.RandomState) -> ArraySource:
        """So many rows with weight, none twice, in memory.

        All rows where there are no more, or where fewer than `at_least` have weight.
        """
        weighty = None if self.weights is None else np.flatnonzero(self.weights)
        n_weighty = self.n_rows if weighty is None else weighty.size
        if size >= self.n_rows or n_weighty < at_least:
            return self.pick(np.arange(self.n_rows))
        chosen = sample_without_replacement(n_weighty, min(size, n_weighty), random_state=rng)
        return self.pick(chosen if weighty is None else weighty[chosen])

    def windows(self, n_rows: int = WINDOW_ROWS) -> Iterator[ArraySource]:
        """All rows in order, exactly so many at a time but for the last, each window in memory.

        How the rows are cut into blocks does not matter.
        """
        from coterie.data.array import ArraySource

        start, window = 0, _Window(self, n_rows)
        for block in self:
            rows = block.rows
            while window.n_held + rows.shape[0] >= n_rows:
                n_missing = n_rows - window.n_held
                window.add(rows[:n_missing])
                rows = rows[n_missing:]
                weights = None if self.weights is None else self.weights[start : start + n_rows]
                yield ArraySource(window.rows(), weights, self.n_threads)
                start, window = start + n_rows, _Window(self, n_rows)
            if rows.shape[0]:
                window.add(rows)
        if window.n_held:
            weights = None if self.weights is None else self.weights[start:]
            yield ArraySource(window.rows(), weights, self.n_threads)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[ArraySource]:
        """Every row once, so many at a time, each batch in memory.

        Rows come in the order they are stored in, shuffled within windows of `WINDOW_ROWS`.
        """
        for window in self.windows(max(size, WINDOW_ROWS // size * size)):
            order = rng.permutation(window.n_rows)
            for first in range(0, window.n_rows, size):
                yield window.pick(order[first : first + size])

    def through(
        self,
        transform: Callable[[Any], Any],
        *,
        n_cols: int | None = None,
        sparse: bool | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> Source:
        """The rows as `transform` makes them of blocks of them: picklable, a row for a row.

        `n_cols`, `sparse` and `dtype` are what it makes, None where they stay what they are.
        """
        from coterie.data.derived import Transformed

        return Transformed(self, transform, n_cols, sparse, dtype)

    def where(self, keeps: Callable[[Any], npt.NDArray[np.bool_]]) -> Source:
        """Those rows that `keeps` says to keep of blocks of them, numbered anew."""
        from coterie.data.derived import Filtered

        return Filtered(self, keeps)

    def weighted(self, weights: npt.NDArray[np.float64] | None) -> Source:
        """The same rows with other weights."""
        from copy import copy

        other = copy(self)
        other.weights = weights
        return other


class RowsByNumber(Source):
    """A source whose rows can be had by number without a pass: an array, or a map of one.

    `rows` are for what needs random access. Where they are not in memory, scratch of some bytes per
    row belongs on disk as well.
    """

    rows: Any


@dataclass(frozen=True)
class Some:
    """Rows picked out of blocks, in order; `+` puts those of later blocks behind."""

    parts: tuple[Any, ...]

    def __add__(self, other: Some) -> Some:
        return Some(self.parts + other.parts)

    @property
    def n_rows(self) -> int:
        return sum(int(part.shape[0]) for part in self.parts)

    def rows(self, n_cols: int, dtype: npt.DTypeLike, sparse: bool) -> Any:
        """All of them in one array or matrix."""
        if not self.parts:
            empty = np.empty((0, n_cols), dtype=dtype)
            return sp.csr_matrix(empty) if sparse else empty
        return stacked(list(self.parts), sparse)


class _Window:
    """Room for so many rows of a source, filled by and by: they are copied once."""

    def __init__(self, source: Source, n_rows: int) -> None:
        self._sparse = source.sparse
        self._parts: list[Any] = []
        shape = (0 if source.sparse else n_rows, source.n_cols)
        self._room = np.empty(shape, dtype=source.dtype)
        self.n_held = 0

    def add(self, rows: Any) -> None:
        if self._sparse:
            self._parts.append(rows.copy())  # the block's buffer may be used again
        else:
            self._room[self.n_held : self.n_held + rows.shape[0]] = rows
        self.n_held += int(rows.shape[0])

    def rows(self) -> Any:
        return stacked(self._parts, True) if self._sparse else self._room[: self.n_held]


def pick_rows(block: Block, wanted: Ints) -> Some:
    """Those of the wanted rows, which are sorted, that this block has: a copy."""
    begin, end = np.searchsorted(wanted, (block.span.start, block.span.stop))
    here = wanted[begin:end] - block.start
    if not here.size:
        return Some(())
    if is_table(block.rows):
        return Some((cells_of(block.rows.take(here)),))
    rows = block.rows[here]
    return Some((rows if sp.issparse(rows) else np.asarray(rows),))


def stacked(parts: list[Any], sparse: bool) -> Any:
    """Rows of several pieces in one array or CSR matrix."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sparse else np.concatenate(parts)


def _shape(n_rows: int, width: int | None) -> tuple[int, ...]:
    return (n_rows,) if width is None else (n_rows, width)
