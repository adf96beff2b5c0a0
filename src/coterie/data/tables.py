"""Tables from files: the numeric columns of a CSV, TSV or NPY file, ready to cluster."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.errors import DataError

__all__ = ["Table", "read_table"]

#: Bytes of a memory map looked at in one go.
_CHUNK_BYTES = 1 << 25
#: Bytes of text that Arrow parses in one go; a line must fit in.
_BLOCK_BYTES = 1 << 26


@dataclass(frozen=True)
class Table:
    """Numeric columns of a file.

    `values` has shape (n_rows, n_columns), float32 or float64 and finite; `names` are its columns;
    `skipped` are the columns left out because they are not numeric or have no name.
    """

    names: tuple[str, ...]
    values: npt.NDArray[Any]
    skipped: tuple[str, ...]


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Table:
    """Read the numeric columns of a CSV, TSV or NPY file.

    Whole numbers, decimals and true/false (as 1 and 0) are numeric. Text columns are skipped, and
    so are columns without a name, which is how row numbers are usually stored. A file whose first
    line holds only numbers has no header: its columns are x0, x1 and so on. An NPY file is mapped
    into memory, not read, and its columns have such names, too.

    Parameters
    ----------
    path
        ``*.npy``: an array with a row per row, 1-d for a single column; ``*.tsv`` and ``*.tab``:
        text between tabs; anything else: text between commas, semicolons or tabs, whichever the
        first line has most of.
    columns
        Names of the columns to take, in this order; None for all. Where a file has no header,
        exactly as many names as it has numeric columns name them in order.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If the file is not a table, lacks a column, or a column in use has missing or infinite
        values.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; give a CSV, TSV or NPY file.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    read = _read_npy if path.suffix.lower() == ".npy" else _read_text
    return read(path, columns)


def _read_npy(path: Path, columns: Sequence[str] | None) -> Table:
    """Map an array; only a selection of columns or a change of type copies it."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError, TypeError, SyntaxError, OverflowError) as error:
        raise DataError(
            f"{path}: not a readable NPY array of numbers ({_one_line(error)}); write it with "
            f"numpy.save."
        ) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise DataError(f"{path}: holds no real numbers; save a numeric array instead.")
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise DataError(
            f"{path}: the array has {values.ndim} dimensions; save it with a row per row and a "
            f"column per column."
        )
    if values.size == 0:
        raise DataError(f"{path}: the array has shape {values.shape}, so there is nothing to read.")
    available = [f"x{index}" for index in range(values.shape[1])]
    names, places = _select(path, available, [], columns, has_header=False)
    if places != list(range(values.shape[1])):
        values = values[:, places]
    if values.dtype not in (np.float32, np.float64):
        values = np.asarray(values, dtype=np.float64)
    _check_finite(path, names, values)
    return Table(tuple(names), values, ())


def _read_text(path: Path, columns: Sequence[str] | None) -> Table:
    """Parse delimited text with Arrow, which infers the type of a column from all its cells."""
    data = path.read_bytes()
    header, delimiter = _first_line(path, data)
    has_header = not all(_is_number(cell) for cell in header)
    table = _parse_text(path, data, delimiter, has_header)
    titles = header if has_header else [f"x{index}" for index in range(len(header))]
    if table.num_rows == 0:
        raise DataError(f"{path}: there is a header but no rows; add rows of data.")

    numeric = [place for place, title in enumerate(titles) if title and _is_numeric(table, place)]
    skipped = [titles[i] or "(no name)" for i in range(len(titles)) if i not in set(numeric)]
    available = [titles[place] for place in numeric]
    names, places = _select(path, available, skipped, columns, has_header=has_header)

    values = np.empty((table.num_rows, len(names)))
    for target, place in enumerate(places):
        column = table.column(numeric[place])
        if column.null_count:
            raise _missing(path, names[target], column.is_null().to_numpy())
        values[:, target] = column.to_numpy()
    _check_finite(path, names, values)
    return Table(tuple(names), values, tuple(skipped))


def _first_line(path: Path, data: bytes) -> tuple[list[str], str]:
    """The cells of the first line that is not blank, and what separates them."""
    if not data.strip():
        raise DataError(f"{path}: the file is empty.")
    if b"\0" in data[: 1 << 16]:
        raise DataError(
            f"{path}: not a text file (it contains zero bytes); save it as CSV in UTF-8."
        )
    first = next(line for line in io.BytesIO(data) if line.strip(b"\r\n"))
    try:
        # "-sig" drops the mark that some programs put before UTF-8 text.
        text = first.lstrip(b"\r\n").splitlines()[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: the first line is not UTF-8 text; convert the file, for example with "
            f"iconv -f latin1 -t utf-8."
        ) from error
    by_count = max(",;\t", key=text.count)
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else by_count
    try:
        (cells,) = csv.reader([text], delimiter=delimiter)
    except (csv.Error, ValueError) as error:
        raise DataError(f"{path}: the first line is not a row of a table.") from error
    return [cell.strip() for cell in cells], delimiter


def _parse_text(path: Path, data: bytes, delimiter: str, has_header: bool) -> Any:
    """An Arrow table of all columns, or an error that names the first uneven row."""
    try:
        import pyarrow as pa
        import pyarrow.csv as pa_csv
    except ImportError as error:
        raise ImportError(
            "Reading text tables needs pyarrow: pip install 'coterie[files]'."
        ) from error
    try:
        return pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(
                block_size=_BLOCK_BYTES,
                autogenerate_column_names=not has_header,
            ),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter),
        )
    except pa.ArrowInvalid as error:
        uneven = next(_uneven_rows(data, delimiter), None)
        if uneven is None:
            raise DataError(f"{path}: not a readable table ({_one_line(error)}).") from error
        line, n_cells, expected = uneven
        raise DataError(
            f"{path}: line {line} has {n_cells} cells where the first line has {expected}; add or "
            f"remove cells, or quote those that contain the separator."
        ) from error


def _uneven_rows(data: bytes, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Lines with another number of cells than the first: line number, cells, cells expected."""
    reader = csv.reader(io.StringIO(data.decode("utf-8", "replace")), delimiter=delimiter)
    expected = 0
    try:
        for cells in reader:
            expected = expected or len(cells)
            if cells and len(cells) != expected:
                yield reader.line_num, len(cells), expected
    except csv.Error:
        return


def _select(
    path: Path,
    available: list[str],
    skipped: list[str],
    columns: Sequence[str] | None,
    *,
    has_header: bool,
) -> tuple[list[str], list[int]]:
    """Names and places (in `available`) of the columns to use."""
    if not available:
        raise DataError(
            f"{path}: no column is numeric (found: {_listing(skipped)}); check the separator and "
            f"the decimal point."
        )
    if columns is None:
        columns = available
    if not has_header and len(columns) == len(available) and not set(columns) & set(available):
        return list(columns), list(range(len(available)))
    for name in columns:
        if name in skipped:
            raise DataError(
                f"{path}: column {name!r} holds no numbers; choose among {_listing(available)}."
            )
        if name not in available:
            raise DataError(f"{path}: no column {name!r}; it has {_listing(available)}.")
        if available.count(name) > 1:
            raise DataError(f"{path}: several columns are named {name!r}; rename all but one.")
    if len(set(columns)) < len(columns) or not columns:
        raise DataError(f"{path}: name each column once, at least one: {_listing(columns)}.")
    return list(columns), [available.index(name) for name in columns]


def _check_finite(path: Path, names: Sequence[str], values: npt.NDArray[Any]) -> None:
    """Refuse NaN and infinity, naming column and row; looks at a chunk of rows at a time."""
    step = max(1, _CHUNK_BYTES // (values.shape[1] * values.dtype.itemsize))
    starts = range(0, len(values), step)
    if all(np.isfinite(values[start : start + step]).all() for start in starts):
        return
    for name, column in zip(names, values.T, strict=True):
        if np.isnan(column).any():
            raise _missing(path, name, np.isnan(column))
        if np.isinf(column).any():
            infinite = np.isinf(column)
            raise DataError(
                f"{path}: column {name!r} is infinite in {_rows(infinite)}; remove these rows or "
                f"leave the column out."
            )


def _missing(path: Path, name: str, missing: npt.NDArray[np.bool_]) -> DataError:
    return DataError(
        f"{path}: column {name!r} has no value in {_rows(missing)}; fill or remove these rows, or "
        f"leave the column out."
    )


def _rows(found: npt.NDArray[np.bool_]) -> str:
    """How many rows, and which is the first; data rows count from 1."""
    count = int(found.sum())
    first = int(found.argmax()) + 1
    return f"row {first}" if count == 1 else f"{count} rows (the first is row {first})"


def _is_numeric(table: Any, place: int) -> bool:
    import pyarrow.types as kinds

    kind = table.schema.field(place).type
    return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _listing(names: Sequence[str]) -> str:
    """Names in one line, the first twenty of them."""
    shown = ", ".join(names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
