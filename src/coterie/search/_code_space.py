"""The space of the codes: what a product quantizer makes of rows and queries, in float64."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from coterie._kernels import kernels

Floats = npt.NDArray[Any]
Doubles = npt.NDArray[np.float64]


class Quantizer(Protocol):
    """What an index needs of a fitted product quantizer, besides an optional `rotation_`."""

    n_features_in_: int
    codebooks_: Any  # of every part, (n_words, width)

    def encode(self, X: Any) -> npt.NDArray[np.uint8]:
        """The codes of rows, (n_rows, n_parts)."""


class CodeSpace:
    """Where rows are compared by codes: brought to length one for cosine, rotated for OPQ.

    Part m has the columns from `starts[m]` to `starts[m + 1]`.
    """

    def __init__(self, who: str, quantizer: Quantizer, metric: str) -> None:
        if not hasattr(quantizer, "codebooks_"):
            if hasattr(type(quantizer), "codebooks_"):
                raise NotFittedError(
                    f"{who}: the quantizer is not fitted; call its fit with rows like those to add."
                )
            raise TypeError(
                f"{who}: the quantizer is a {type(quantizer).__name__}, which has no codebooks of "
                "parts; pass a fitted ProductQuantizer."
            )
        self.metric = metric
        # Rows come as arrays here, which have no names of columns to compare.
        self._coder = copy.copy(quantizer)
        vars(self._coder).pop("feature_names_in_", None)
        books = [np.asarray(book, dtype=np.float32) for book in quantizer.codebooks_]
        self.n_features, self.n_parts, self.n_words = (
            int(quantizer.n_features_in_),
            len(books),
            len(books[0]),
        )
        if self.n_words not in (16, 256):
            raise ValueError(
                f"{who}: the quantizer has {self.n_words} codewords per part; use one of 4 or 8 "
                "bits."
            )
        self.bits = 4 if self.n_words == 16 else 8
        widths = [book.shape[1] for book in books]
        self.starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self._books = books
        self._words = np.concatenate([book.ravel() for book in self._books])
        rotation = getattr(quantizer, "rotation_", None)
        self._rotation = None if rotation is None else np.asarray(rotation, dtype=np.float64)

    @property
    def stretch(self) -> float:
        """By how much of itself a length may change on the way: rounding of the rotation."""
        if self._rotation is None:
            return 1e-12
        off = self._rotation @ self._rotation.T - np.eye(len(self._rotation))
        return float(np.sqrt(np.square(off).sum())) + 1e-12

    def encode(self, rows: Floats, n_threads: int | None) -> npt.NDArray[np.uint8]:
        """The codes of rows, (n_rows, n_parts); the quantizer's own threads have no say."""
        given = to_length_one(rows).astype(rows.dtype) if self.metric == "cosine" else rows
        return np.asarray(on_threads(self._coder, n_threads).encode(given))

    def tables(self, queries: Floats, n_threads: int) -> tuple[npt.NDArray[np.float32], Doubles]:
        """The tables of queries, (n_queries, n_parts, n_words), and their lengths in the space."""
        asked = np.ascontiguousarray(self.place(queries))
        tables = np.empty((len(asked), self.n_parts, self.n_words), dtype=np.float32)
        metric = "inner_product" if self.metric == "cosine" else self.metric
        kernels.code_tables(self._words, self.starts, metric, asked, tables, n_threads)
        if not np.isfinite(tables).all():
            raise ValueError(
                "PQIndex: queries are so far from the codewords that float32 overflows; scale "
                "rows and queries down."
            )
        return tables, np.sqrt(np.square(asked).sum(axis=1))

    def decode(self, codes: npt.NDArray[np.uint8]) -> Doubles:
        """What codes of shape (n_rows, n_parts) stand for."""
        return np.concatenate(
            [book[codes[:, m]].astype(np.float64) for m, book in enumerate(self._books)], axis=1
        )

    @property
    def longest_word(self) -> float:
        """The length of the longest codeword of a part; of rows of length one, no more than one."""
        return max(
            float(np.linalg.norm(book.astype(np.float64), axis=1).max()) for book in self._books
        )

    @property
    def word_columns(self) -> npt.NDArray[np.float32]:
        """The codebooks column by column, (n_features, n_words)."""
        return np.ascontiguousarray(np.concatenate([book.T for book in self._books]))

    def place(self, rows: Floats) -> Doubles:
        """Rows as float64 in the space of the codes; a copy."""
        return self.turn(to_length_one(rows) if self.metric == "cosine" else rows)

    def turn(self, rows: Floats) -> Doubles:
        """Rows as they are, but rotated where codes are of rotated rows; a copy."""
        wide = rows.astype(np.float64)
        return wide if self._rotation is None else wide @ self._rotation


def on_threads(quantizer: Any, n_threads: int | None) -> Any:
    """The quantizer, with so many threads if it has any."""
    own = copy.copy(quantizer)
    if hasattr(own, "n_threads"):
        own.n_threads = n_threads
    return own


def to_length_one(rows: Floats) -> Doubles:
    """Rows over their length, in float64; zeros stay."""
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    return np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
