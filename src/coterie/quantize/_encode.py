"""A fitted product quantizer as a record: rows to codes and back, and distances by tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory
from coterie._doors import check_finite
from coterie._kernels import kernels
from coterie.data import Block

Rows = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

#: Rows that are rounded to float32 or rotated at a time.
_AT_A_TIME = 1 << 15


@dataclass(frozen=True)
class PartCodes:
    """Codewords of all parts, and how rows come to them.

    Parameters
    ----------
    who
        The estimator, for complaints.
    codewords
        Shape (n_codes, n_cols): codeword j of part m is row j in the columns of m.
    starts
        Where the parts begin, and the end of the last.
    shift
        Near the rows; codes do not depend on it, but their speed does.
    rotation
        What rows are multiplied with first, shape (n_cols, n_cols), or None.
    names
        Of the columns, for complaints.
    """

    who: str
    codewords: Rows
    starts: Ints
    shift: Rows
    rotation: Rows | None = None
    names: Sequence[str] | None = None

    @property
    def n_parts(self) -> int:
        return int(self.starts.size - 1)

    def encode(self, rows: npt.NDArray[Any], codes: Bytes, n_threads: int, start: int = 0) -> None:
        """Fill in the nearest codeword of every row in every part; `start` numbers the first row.

        Time O(n k d), and O(n d^2) more with a rotation; memory some rows at a time.
        """
        for here, turned in self._turned(rows, n_threads):
            finite = kernels.encode_parts(
                turned, self.codewords, self.starts, self.shift, codes[here], n_threads
            )
            if not finite:
                check_finite(self.who, rows, self.names, start=start)
                raise ValueError(
                    f"{self.who}: X has values so large that float32 does not hold them; divide X "
                    "by a constant (for example its largest absolute value) and fit again."
                )

    def errors(self, rows: npt.NDArray[Any], codes: Bytes, n_threads: int) -> Any:
        """Sum of squared errors of every part, a float64 array."""
        total = np.zeros(self.n_parts)
        for here, turned in self._turned(rows, n_threads):
            some = np.empty(self.n_parts)
            kernels.code_errors(turned, codes[here], self.codewords, self.starts, some, n_threads)
            total += some
        return total

    def decode(self, codes: Bytes, n_threads: int) -> Rows:
        """What codes stand for, turned back; the transpose of a rotation is its inverse."""
        words = self.words_of(codes, n_threads)
        if self.rotation is None:
            return words
        rows = np.empty_like(words)
        back = np.ascontiguousarray(self.rotation.T)
        kernels.rotate_rows(words, back, rows, n_threads)
        return rows

    def words_of(self, codes: Bytes, n_threads: int) -> Rows:
        """The codewords of all parts side by side."""
        words = np.empty((codes.shape[0], self.codewords.shape[1]), dtype=np.float32)
        kernels.decode_parts(codes, self.codewords, self.starts, words, n_threads)
        return words

    def turn(self, rows: npt.NDArray[Any], n_threads: int) -> Rows:
        """Rows in float32, in the coordinates of the codewords."""
        with np.errstate(over="ignore"):  # infinity is complained of when it is met
            narrow = np.ascontiguousarray(rows, dtype=np.float32)
        if self.rotation is None:
            return narrow
        turned = np.empty_like(narrow)
        kernels.rotate_rows(narrow, self.rotation, turned, n_threads)
        return turned

    def _turned(self, rows: npt.NDArray[Any], n_threads: int) -> Iterator[tuple[slice, Rows]]:
        """The rows turned, all at once where nothing has to be done, else some at a time."""
        ready = self.rotation is None and rows.dtype == np.float32 and rows.flags.c_contiguous
        step = max(1, rows.shape[0]) if ready else _AT_A_TIME
        for first in range(0, rows.shape[0], step):
            here = slice(first, first + step)
            yield here, self.turn(rows[here], n_threads)

    def tables(self, turned: Rows, n_threads: int) -> Rows:
        """Squared distances of turned rows to all codewords, (n, n_parts, n_codes).

        Direct form, float32, columns in order: the same bits everywhere. Time O(n k d).
        """
        shape = turned.shape[0], self.n_parts, len(self.codewords)
        self._check_memory(shape, f"tables of {shape[0]} queries")
        tables = np.empty(shape, dtype=np.float32)
        kernels.distance_tables(turned, self.codewords, self.starts, tables, n_threads)
        return tables

    def distances(self, turned: Rows, codes: Bytes, n_threads: int) -> Rows:
        """Squared distances of turned rows to what codes stand for, (n, n_codes of rows).

        Sums of a table's entries. Time O(n_parts) per pair.
        """
        shape = turned.shape[0], codes.shape[0]
        self._check_memory(shape, f"distances of {shape[0]} rows to {shape[1]} codes")
        distances = np.empty(shape, dtype=np.float32)
        step = max(1, (1 << 24) // (self.n_parts * len(self.codewords)))
        for first in range(0, turned.shape[0], step):
            here = slice(first, first + step)
            tables = self.tables(turned[here], n_threads)
            kernels.distances_by_tables(tables, codes, distances[here], n_threads)
        return distances

    def _check_memory(self, shape: tuple[int, ...], for_what: str) -> None:
        check_memory(self.who, 4 * math.prod(shape), for_what, "ask for fewer at a time")


def encode_block(block: Block, parts: PartCodes, codes: Bytes) -> None:
    """Fill in the codes of a block."""
    parts.encode(block.rows, codes, block.n_threads, block.start)


def errors_of_block(block: Block, parts: PartCodes) -> npt.NDArray[np.float64]:
    """Sum of squared errors of every part, and the number of rows at the end."""
    codes = np.empty((block.n_rows, parts.n_parts), dtype=np.uint8)
    parts.encode(block.rows, codes, block.n_threads, block.start)
    return np.append(parts.errors(block.rows, codes, block.n_threads), block.n_rows)
