"""All columns of some files as they are stored: Arrow tables of some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._config import block_bytes
from coterie.data._arrow_batches import Wanted, tables_of
from coterie.data._arrow_floats import is_number
from coterie.data._datasets import Files
from coterie.data._read_ahead import read_ahead
from coterie.data.arrow import with_text_columns
from coterie.data.npy import mapped
from coterie.data.raw_files import read_raw
from coterie.data.raw_table import RawTable
from coterie.data.streams import is_streamed
from coterie.data.tables import select_columns
from coterie.errors import DataError

__all__ = ["AllColumns", "open_columns"]

#: Bytes of rows that are read at a time, and what a cell takes there.
_PART_BYTES = 1 << 24
_NUMBER_BYTES, _WORD_BYTES = 8, 64
#: From here on floats have no room for every whole number.
_LAST_EXACT = float(2**53)


@dataclass(frozen=True)
class AllColumns:
    """Columns of files with their Arrow types (`schema`), read anew by every call of `tables`.

    `format` is what the files are, `notes` say how they were read.
    """

    name: str
    format: str
    schema: Any
    notes: tuple[str, ...]
    tables: Callable[[], Iterator[Any]]

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)


def open_columns(
    places: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    without: Collection[str] = (),
    text: Collection[str] = (),
    decimal: str | None = None,
    header: bool | None = None,
    most_bytes: int,
) -> AllColumns:
    """Open files of any format that is read: CSV, TSV, Parquet, Arrow, Feather, NPY, Excel.

    A text file of at most `most_bytes`, and a sheet, are read whole, whatever notation their
    numbers have; all else comes some rows at a time.

    Parameters
    ----------
    places
        Paths, patterns, directories or addresses, of files of one format; ``-`` is standard input.
    columns, without
        The columns to take, in this order, None for all; columns to leave out.
    text
        Columns of text files to take as text whatever they hold, so that codes keep their zeros.
    decimal, header
        Of a text file that is read whole; see `read_raw`.
    most_bytes
        What may be read whole.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If files cannot be read as a table, or lack a column.
    """
    first = places[0]
    if len(places) == 1 and first.lower().endswith((".xlsx", ".xlsm")):
        raw, notes = read_raw(places)
        return _whole(first, "Excel", raw, notes, columns, without)
    if (len(places) == 1 and first.lower().endswith(".npy")) or is_streamed(places, most_bytes):
        return _streamed(places, columns, without, text)
    raw, notes = read_raw(places, decimal=decimal, header=header, text=text)
    name = "stdin" if first == "-" else first
    return _whole(name, "text", raw, notes, columns, without)


def _whole(
    name: str,
    format: str,
    raw: RawTable,
    notes: Sequence[str],
    columns: Sequence[str] | None,
    without: Collection[str],
) -> AllColumns:
    """A table in memory."""
    import pyarrow as pa

    names, _ = select_columns(name, list(raw.names), columns, without, named=True)
    table = pa.table({column: _arrow(name, column, raw[column]) for column in names})
    return AllColumns(
        name, format, table.schema, (*raw.renamed, *notes), lambda: iter(table.to_batches())
    )


def _arrow(name: str, column: str, cells: Any) -> Any:
    """A column of a raw table; a missing cell is null."""
    import pyarrow as pa

    try:
        return pa.array(np.asarray(cells), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers and words, say
        words = [None if cell is None or cell != cell else str(cell) for cell in cells]
        return pa.array(words, type=pa.string())


def _streamed(
    places: Sequence[str],
    columns: Sequence[str] | None,
    without: Collection[str],
    text: Collection[str],
) -> AllColumns:
    """Columns of files that are read some rows at a time."""
    files = Files(places[0] if len(places) == 1 else list(places))
    if files.format == "npy":
        return _of_arrays(files, columns, without)
    dataset = files.dataset(columns, without)
    known = with_text_columns(dataset.schema, text) if files.format == "csv" else dataset.schema
    names, _ = select_columns(files.name, known.names, columns, without, named=True)
    schema = _picked(known, names)
    kinds = [_NUMBER_BYTES if is_number(kind) else _WORD_BYTES for kind in schema.types]
    n_rows = max(1, block_bytes(_PART_BYTES) // sum(kinds))
    wanted = Wanted(schema, known, names, None, n_rows)

    def parts() -> Iterator[Any]:
        for fragment in dataset.get_fragments():
            for table in tables_of(fragment, wanted):
                if files.format == "csv":
                    _check_digits(files.name, table)
                yield table.cast(schema)

    formats = {"csv": "text", "ipc": "Arrow", "parquet": "Parquet"}
    return AllColumns(files.name, formats[files.format], schema, (), lambda: read_ahead(parts))


def _picked(schema: Any, names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def _check_digits(name: str, table: Any) -> None:
    """Refuse whole numbers that floats would change: identifiers, as a rule."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    for field, column in zip(table.schema, table.columns, strict=True):
        if types.is_floating(field.type):
            largest = pc.max(pc.abs(column)).as_py()
            if largest is not None and _LAST_EXACT < largest < 1e19 and largest.is_integer():
                raise DataError(
                    f"{name}: column {field.name!r} has whole numbers beyond 2^53, whose last "
                    f"digits would be lost; keep them with --text {field.name}."
                )


def _of_arrays(files: Files, columns: Sequence[str] | None, without: Collection[str]) -> AllColumns:
    """Arrays of one width and type, mapped into memory."""
    import pyarrow as pa

    arrays: list[Any] = [mapped(path) for path in files.local_paths()]
    arrays = [array[:, np.newaxis] if array.ndim == 1 else array for array in arrays]
    for array in arrays:
        if array.ndim != 2 or array.shape[1:] != arrays[0].shape[1:]:
            raise DataError(
                f"{files.name}: the arrays have shapes {arrays[0].shape} and {array.shape}; give "
                "arrays with a row per row and columns of one number."
            )
        if array.dtype.kind not in "fiub":
            raise DataError(f"{files.name}: holds no real numbers; save a numeric array instead.")
    available = [f"x{place}" for place in range(arrays[0].shape[1])]
    names, chosen = select_columns(files.name, available, columns, without, named=False)
    kind = np.result_type(*(array.dtype for array in arrays)).newbyteorder("=")
    schema = pa.schema([(name, pa.from_numpy_dtype(kind)) for name in names])
    n_rows = max(1, block_bytes(_PART_BYTES) // max(1, kind.itemsize * len(names)))

    def tables() -> Iterator[Any]:
        for array in arrays:
            for start in range(0, len(array), n_rows):
                part = np.asarray(array[start : start + n_rows], dtype=kind)
                cells = [pa.array(np.ascontiguousarray(part[:, place]), from_pandas=True)
                         for place in chosen]  # fmt: skip
                yield pa.table(cells, schema=schema)

    return AllColumns(files.name, "NPY", schema, (), tables)
