"""Tables from files: the columns of a CSV, TSV or NPY file, ready to cluster."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data._delimited import Delimited, listing, no_column, read_delimited
from coterie.data.columns import first_odd, missing_cells, not_finite
from coterie.data.npy import unreadable
from coterie.errors import DataError

__all__ = [
    "STDIN", "Table", "check_column", "check_finite", "choose_among", "first_few", "read_table",
    "select_columns",
]  # fmt: skip

#: The name that stands for standard input.
STDIN = "-"
#: Columns left out of which each has its own note.
_MOST_NOTES = 5


@dataclass(frozen=True)
class Table:
    """Columns of a file.

    `values` has shape (n_rows, n_columns). Without text columns it is float32 or float64, finite
    but for NaN where missing cells were welcome; with text columns an object array of floats and
    str, with NaN and None. `names` are the columns, `skipped` those left out, and `notes` say in a
    sentence each what a reader should know: what was left out and why, what was read in an unusual
    way.
    """

    names: tuple[str, ...]
    values: npt.NDArray[Any]
    skipped: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    without: Collection[str] = (),
    missing: bool = False,
    text: bool = False,
    categorical: Collection[str] = (),
    decimal: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read the columns of a CSV, TSV or NPY file.

    Whole numbers, decimals and true/false (as 1 and 0) are numeric, and so are numbers with
    separators between thousands or a percent sign (5% is 0.05). Text columns are left out unless
    they are welcome, and so are columns without a name, which is how row numbers are usually
    stored. A column is text unless most of its cells are numbers. A file whose first line holds
    only numbers, or a number with a fraction, has no header: its columns are x0, x1 and so on. An
    NPY file is mapped into memory, not read, and its columns have such names, too.

    Parameters
    ----------
    path
        ``*.npy``: an array with a row per row, 1-d for a single column; ``*.tsv`` and ``*.tab``:
        text between tabs; anything else: text between commas, semicolons, tabs or bars, what the
        first line has most of. ``-`` is standard input.
    columns
        Names of the columns to take, in this order; None for all. Where a file has no header,
        exactly as many names as it has numeric columns name them in order.
    without
        Names of columns to leave out.
    missing
        Whether missing cells are welcome; they are NaN then, None in text columns.
    text
        Whether text columns are welcome.
    categorical
        Columns to read as text in any case.
    decimal
        The decimal mark, "." or ","; None to tell it from the cells.
    header
        Whether the first line holds names; None to tell it from the cells.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If the file is not a table, lacks a column, or a column in use has cells that are no
        numbers, infinite, or missing where that is not welcome.
    """
    path = Path(path)
    if os.fspath(path) == STDIN:
        name, data = "stdin", sys.stdin.buffer.read()
    elif path.is_dir():
        raise DataError(f"{path}: this is a directory; give a CSV, TSV or NPY file.")
    elif not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    elif path.suffix.lower() == ".npy":
        return _read_npy(str(path), path, columns, without, missing)
    else:
        name, data = str(path), path.read_bytes()
    if data.startswith(b"\x93NUMPY"):
        return _read_npy(name, io.BytesIO(data), columns, without, missing)
    tabs = path.suffix.lower() in (".tsv", ".tab")
    file = read_delimited(name, data, "\t" if tabs else None, header, decimal, categorical, columns)
    return _take(file, columns, without, missing, text)


def _read_npy(
    name: str,
    source: Any,
    columns: Sequence[str] | None,
    without: Collection[str],
    missing: bool,
) -> Table:
    """Map an array; only a selection of columns or a change of type copies it."""
    try:
        mapped = "r" if isinstance(source, Path) else None
        values = np.load(source, mmap_mode=mapped, allow_pickle=False)  # type: ignore[arg-type]
    except PermissionError:
        raise
    except (ValueError, EOFError, OSError, TypeError, SyntaxError, OverflowError) as error:
        raise unreadable(name, source, error) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise DataError(f"{name}: holds no real numbers; save a numeric array instead.")
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise DataError(
            f"{name}: the array has {values.ndim} dimensions; save it with a row per row and a "
            f"column per column."
        )
    if values.size == 0:
        raise DataError(f"{name}: the array has shape {values.shape}, so there is nothing to read.")
    available = [f"x{index}" for index in range(values.shape[1])]
    names, places = select_columns(name, available, columns, without, named=False)
    if places != list(range(values.shape[1])):
        values = values[:, places]
    if values.dtype not in (np.float32, np.float64):
        values = np.asarray(values, dtype=np.float64)
    check_finite(name, names, values, missing)
    return Table(tuple(names), values, ())


def _take(
    file: Delimited,
    columns: Sequence[str] | None,
    without: Collection[str],
    missing: bool,
    text: bool,
) -> Table:
    """The columns asked for, or all that can be used."""
    left: dict[str, str] = {}
    if columns is None or not (file.has_header or set(columns) & set(file.titles)):
        usable = []
        _, places = select_columns(file.name, file.titles, None, without, named=True)
        for place in places:
            title = file.titles[place]
            if not title:
                left["(no name)"] = "a column has no name, as row numbers have none"
            elif (refusal := file.refusal(place, text)) is not None:
                left[title] = f"column {title!r} {refusal.why}"
            else:
                usable.append(place)
        if not usable:
            other = "" if text else ", or use a method that takes text (mixed, categorical)"
            raise DataError(
                f"{file.name}: no column is numeric ({'; '.join(first_few(left))}); check the "
                f"separator and the decimal mark{other}."
            )
        available = [file.titles[place] for place in usable]
        names, chosen = select_columns(file.name, available, columns, (), named=file.has_header)
        places = [usable[place] for place in chosen]
    else:
        names, places = select_columns(file.name, file.titles, columns, without, named=True)
        for name, place in zip(names, places, strict=True):
            refusal = file.refusal(place, text)
            if refusal is not None:
                raise DataError(
                    f"{file.name}: column {name!r} {refusal.why}; "
                    f"{choose_among(file.plain_titles())}."
                )

    words = any(file.holds_words(place) for place in places)
    values = np.empty((file.n_rows, len(names)), dtype=object if words else np.float64)
    for target, (name, place) in enumerate(zip(names, places, strict=True)):
        column = file.values(place)
        check_column(file.name, name, column, missing, partial(file.cell, place=place))
        values[:, target] = column
    notes = [f"{note}; it is left out" for note in first_few(left)] + file.notes
    return Table(tuple(names), values, tuple(left), tuple(notes))


def choose_among(plain: Collection[str]) -> str:
    """What to do in place of a column that cannot be used."""
    return f"choose among {listing(plain)}" if plain else "no other column is numeric either"


def first_few(left: Mapping[str, str]) -> list[str]:
    """What to say of columns left out; of very many, only the names."""
    told = list(left.values())[:_MOST_NOTES]
    others = list(left)[_MOST_NOTES:]
    return [*told, f"the same holds for {listing(others)}"] if others else told


def select_columns(
    name: str,
    available: list[str],
    columns: Sequence[str] | None,
    without: Collection[str],
    *,
    named: bool,
) -> tuple[list[str], list[int]]:
    """Names and places (in `available`) of the columns to use."""
    for column in without:
        if column not in available:
            raise no_column(name, column, available)
    if columns is None:
        for column in available:
            if column and column not in without and available.count(column) > 1:
                raise _twice(name, column)
        kept = [place for place, column in enumerate(available) if column not in without]
        if not kept:
            raise DataError(f"{name}: every column is left out; keep at least one.")
        return [available[place] for place in kept], kept
    if not named and len(columns) == len(available) and not set(columns) & set(available):
        return list(columns), list(range(len(available)))
    for column in columns:
        if column not in available:
            raise no_column(name, column, available)
        if available.count(column) > 1:
            raise _twice(name, column)
    if len(set(columns)) < len(columns) or not columns:
        raise DataError(f"{name}: name each column once, at least one: {listing(columns)}.")
    chosen = [column for column in columns if column not in without]
    if not chosen:
        raise DataError(f"{name}: every column is left out; keep at least one.")
    return chosen, [available.index(column) for column in chosen]


def _twice(name: str, column: str) -> DataError:
    return DataError(f"{name}: several columns are named {column!r}; rename all but one.")


def check_finite(name: str, names: Sequence[str], values: npt.NDArray[Any], missing: bool) -> None:
    """Refuse NaN and infinity, naming column and row; looks at some rows at a time."""
    found = first_odd(values, np.isinf if missing else not_finite)
    if found is not None:
        check_column(name, names[found.column], values[:, found.column], missing, None)


def check_column(
    name: str,
    column_name: str,
    column: npt.NDArray[Any],
    missing: bool,
    cell: Callable[[int], tuple[int, str]] | None,
) -> None:
    """Refuse infinity, and missing cells where they are not welcome; `cell` finds one in a file."""
    lacking = missing_cells(column)
    if column.dtype != object:
        infinite = np.isinf(column)
        if infinite.any():
            raise DataError(
                f"{name}: column {column_name!r} is infinite in {_rows(infinite, cell)}; remove "
                f"these rows or leave the column out."
            )
    if lacking.any() and not missing:
        raise DataError(
            f"{name}: column {column_name!r} has no value in {_rows(lacking, cell)}; fill or "
            f"remove these rows, leave the column out, or use a method that takes missing cells "
            f"(gaussian, mixed)."
        )


def _rows(found: npt.NDArray[np.bool_], cell: Callable[[int], tuple[int, str]] | None) -> str:
    """How many rows, and which is the first; data rows count from 1, lines are the file's."""
    count = int(found.sum())
    first = int(found.argmax())
    where = ""
    if cell is not None:
        line, text = cell(first)
        where = f"line {line}: {text!r}" if text else f"line {line}"
    if count == 1:
        return f"row {first + 1}" + (f" ({where})" if where else "")
    return f"{count:,} rows (the first is row {first + 1}" + (f", {where})" if where else ")")
