"""Tables read some rows at a time: the columns of files that can be used, and their rows."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from glob import escape, glob
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data._cells import Typed, cells_of
from coterie.data._delimited import listing
from coterie.data.opened import open as open_rows
from coterie.data.opened import open_all
from coterie.data.source import Source
from coterie.data.tables import (
    STDIN,
    Table,
    check_column,
    check_finite,
    choose_among,
    first_few,
    select_columns,
)
from coterie.errors import DataError

__all__ = ["Stream", "files_of", "is_streamed", "open_table"]

#: Ends of names of files that are never text to be read whole, and how such files begin.
_ENDS = (".parquet", ".pq", ".parq", ".arrow", ".feather", ".ipc", ".gz", ".bz2", ".zst")
_MARKS = (b"PAR1", b"ARROW1", b"\x1f\x8b")
#: What a cell takes in memory where it may hold text.
_CELL_BYTES = 64


def is_streamed(places: Sequence[str], most_bytes: int) -> bool:
    """Whether to read these by `open_table`: all but one text or NPY file of at most so many bytes.

    Parameters
    ----------
    places
        Paths, patterns, directories or addresses; ``-`` is standard input.
    most_bytes
        What may be read whole.
    """
    if len(places) > 1:
        return True
    (place,) = places
    if not os.path.exists(place):
        return place != STDIN and ("://" in place or any(mark in place for mark in "*?["))
    if not os.path.isfile(place):
        return os.path.isdir(place)  # a pipe or a device can be read once
    if os.path.getsize(place) > most_bytes or place.lower().endswith(_ENDS):
        return True
    with open(place, "rb") as file:
        return file.read(8).startswith(_MARKS)


def files_of(places: Sequence[str]) -> list[str]:
    """The files of this machine that are read: those of patterns and directories, too."""
    found = []
    for place in places:
        if os.path.isdir(place):
            found += glob(os.path.join(escape(place), "**"), recursive=True)
        else:
            found += [place] if os.path.exists(place) else glob(place, recursive=True)
    return [path for path in found if os.path.isfile(path)]


@dataclass(frozen=True)
class Stream:
    """Columns of files, whose rows come some at a time.

    `source` has the rows in the table's own units: as arrays, or as `tables` of `Typed` columns,
    where text is welcome. `stored` are the columns `names` as files know them, by name or place,
    `words` those of them that hold text. `skipped` and `notes` are as those of a `Table`.
    """

    name: str
    names: tuple[str, ...]
    source: Source
    stored: tuple[Any, ...]
    words: tuple[str, ...] = ()
    tables: bool = False
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """The number of the first row, and rows: floats, or floats and str where there is text."""
        for block in self.source:
            yield block.start, cells_of(block.rows) if self.tables else block.rows

    def nameless(self) -> Source:
        """The rows for an estimator that is to know columns by their places."""
        rows = copy(self.source)
        rows.names = None
        return rows

    def held(self, most_bytes: float, *, missing: bool) -> Table | None:
        """All rows in memory; None where they take more than that.

        Raises
        ------
        DataError
            If cells are infinite, or missing where that is not welcome.
        """
        cell_bytes = _CELL_BYTES if self.words else self.source.dtype.itemsize
        most_cells = most_bytes / cell_bytes
        known = self.source._n_rows
        if known is not None and known * len(self.names) > most_cells:
            return None
        parts: list[npt.NDArray[Any]] = []
        for start, rows in self.blocks():
            if (start + len(rows)) * len(self.names) > most_cells:
                return None
            parts.append(rows.copy())  # the block's buffer may be used again
        if not parts:
            raise DataError(f"{self.name}: there are no rows in it; give files with some.")
        values = np.concatenate(parts)
        if self.words:
            self._check_cells(values)
        else:
            check_finite(self.name, self.names, values, missing)
        return Table(self.names, values, self.skipped, self.notes)

    def _check_cells(self, values: npt.NDArray[Any]) -> None:
        for name, title, column in zip(self.names, self.stored, values.T, strict=True):
            if title not in self.words:
                check_column(self.name, name, column.astype(np.float64), True, None)


def open_table(
    places: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    without: Collection[str] = (),
    text: bool = False,
    categorical: Collection[str] = (),
) -> Stream:
    """The columns of files that suit, to be streamed; see `coterie.data.open` for what it opens.

    Parameters
    ----------
    places
        Paths, patterns, directories or addresses, of files of one format.
    columns
        The columns to use, in this order; None for all that suit. Where files have no names, as
        many as there are name them.
    without
        Columns to leave out.
    text
        Whether columns of text are welcome.
    categorical
        Columns of numbers to take as text.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If files cannot be read as a table, lack a column, or none suits.
    """
    from coterie.data._datasets import words_for
    from coterie.data.arrow import ArrowSource

    where: Any = places[0] if len(places) == 1 else list(places)
    name = words_for(where)
    source = open_all(where, columns, without)
    if not isinstance(source, ArrowSource):  # arrays, which have no names
        available = [f"x{place}" for place in range(source.n_cols)]
        names, chosen = select_columns(name, available, columns, without, named=False)
        if chosen != list(range(source.n_cols)):
            source = open_rows(where, columns=chosen)
        return Stream(name, tuple(names), source, tuple(chosen))

    titles = source.schema.names
    kinds = {field.name: field.type for field in source.schema}
    refused = {title: why for title in titles if (why := _refusal(title, kinds[title], text))}
    named = titles != [f"x{place}" for place in range(len(titles))]
    left: dict[str, str] = {}
    if columns is None or not (named or set(columns) & set(titles)):
        kept, _ = select_columns(name, titles, None, without, named=True)
        left = {title or "(no name)": refused[title] for title in kept if title in refused}
        usable = [title for title in kept if title not in refused]
        if not usable:
            other = "" if text else ", or use a method that takes text (mixed, categorical)"
            raise DataError(
                f"{name}: no column is numeric ({'; '.join(first_few(left))}); choose other files"
                f"{other}."
            )
        names, places_of = select_columns(name, usable, columns, (), named=named)
        stored = [usable[place] for place in places_of]
    else:
        names, _ = select_columns(name, titles, columns, without, named=True)
        stored = names
        for title in stored:
            if title in refused:
                plain = [other for other in titles if other not in refused]
                raise DataError(f"{name}: {refused[title]}; {choose_among(plain)}.")
    stored_as = dict(zip(names, stored, strict=True))
    for title in categorical:
        if title not in stored_as:
            raise DataError(f"{name}: no column {title!r} is in use; it has {listing(names)}.")
    source = source.with_text(stored, [stored_as[title] for title in categorical])
    words = source.text
    rows = source.tables().through(Typed(words)) if text else source
    notes = tuple(f"{note}; it is left out" for note in first_few(left))
    return Stream(name, tuple(names), rows, tuple(stored), words, text, tuple(left), notes)


def _refusal(title: str, kind: Any, text: bool) -> str | None:
    """Why a column of an Arrow type cannot be used, if it cannot."""
    import pyarrow.types as types

    from coterie.data._arrow_floats import is_number

    if types.is_dictionary(kind):
        kind = kind.value_type
    if not title:
        return "a column has no name, as row numbers have none"
    if re.fullmatch(r"__index_level_\d+__", title):
        return f"column {title!r} is the index of a data frame"
    if types.is_null(kind):
        return f"column {title!r} has no value in any row"
    if is_number(kind):
        return None
    if types.is_temporal(kind):
        return f"column {title!r} holds dates or times ({kind})"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return None if text else f"column {title!r} holds text"
    return f"column {title!r} holds {kind}, not numbers"
