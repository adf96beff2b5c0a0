"""The vectors of ``coterie index``: rows of files, by the columns that are numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.cli._options import check_decimal, check_text_options
from coterie.cli._stdin import STDIN, as_files, check_there

if TYPE_CHECKING:
    from coterie.data import Source
    from coterie.search import FlatIndex, IVFPQIndex, PQIndex

    AnyIndex = FlatIndex | PQIndex | IVFPQIndex


class TextOptions(NamedTuple):
    """How text is read, and how much of it whole."""

    decimal: str | None
    header: bool | None
    most_bytes: int


class Rows(NamedTuple):
    """Rows and the names of their columns."""

    source: Source
    names: tuple[str, ...]


@contextmanager
def vectors_of(
    data: Sequence[str],
    columns: Sequence[str] | None,
    without: Sequence[str],
    text: TextOptions,
    index: AnyIndex | None = None,
) -> Iterator[Rows]:
    """The columns of some files that are numbers, as for `coterie fit`; or those of an index.

    What a reader should know of the files goes to stderr. Arrays stay where they are; other files
    are held in memory where they are small enough.
    """
    from coterie.cli._given import given
    from coterie.cli._methods import way_of
    from coterie.cli._telling import warn
    from coterie.data import ArraySource
    from coterie.data.streams import open_table

    check_decimal(text.decimal)
    check_there(data)
    with as_files(data, text=True) as places:
        table: Any
        with _reading(data, places, index):
            if _is_array(places):
                check_text_options(text.decimal, text.header)
                table = open_table(places, columns, without=without)
            else:
                # As for k-means: all columns are numbers, and no cell is missing.
                table = given(
                    places, "kmeans", columns, way=way_of("kmeans"), without=without,
                    categorical=(), decimal=text.decimal, header=text.header,
                    most_bytes=text.most_bytes, scale=False,
                )  # fmt: skip
        for note in table.notes:
            warn(note)
        rows = copy(table.source) if hasattr(table, "source") else ArraySource(table.values)
        rows.names = tuple(table.names)
        yield Rows(rows, rows.names)


def _is_array(places: Sequence[str]) -> bool:
    return len(places) == 1 and places[0].lower().endswith(".npy") and os.path.isfile(places[0])


def are_places(columns: Sequence[str]) -> bool:
    """Whether columns are called as those of an array, all of them."""
    return list(columns) == [f"x{place}" for place in range(len(columns))]


@contextmanager
def _reading(data: Sequence[str], places: Sequence[str], index: AnyIndex | None) -> Iterator[None]:
    """Let errors speak of what was given, and of the columns that an index has."""
    from coterie.data._delimited import listing
    from coterie.errors import DataError

    if index is not None:
        _check_rows_of(data[0], places, index)
    try:
        yield
    except DataError as error:
        told = str(error)
        lacking, nobody_named_it, _ = told.partition("; name one of these, or rename")
        if index is not None and nobody_named_it:
            told = (
                f"{lacking}; the index has the columns {listing(index.columns or ())}: give a "
                "table that has them, or rename its columns."
            )
        raise DataError(told) from error


def _check_rows_of(given: str, places: Sequence[str], index: AnyIndex) -> None:
    """Refuse one long query where a row per query is expected."""
    import numpy as np

    if not _is_array(places) or index.n_features in (1, None):
        return
    shape: tuple[int, ...] = ()
    with suppress(ValueError, EOFError, OSError):  # whoever reads it says what is wrong
        shape = np.load(places[0], mmap_mode="r", allow_pickle=False).shape
    if len(shape) == 1:
        raise ValueError(
            f"{'stdin' if given == STDIN else given}: the array has one dimension, of "
            f"{shape[0]:,} numbers, and queries are rows of {index.n_features} columns; save it "
            f"with a row per query, one query as an array of shape (1, {index.n_features})."
        )
