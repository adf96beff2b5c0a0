"""Raw tables from files: all columns as they are, whatever they hold."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data import _notation as notation
from coterie.data._delimited import Delimited, listing, read_delimited, trimmed
from coterie.data._texts import as_utf8, joined, unpacked
from coterie.data.raw_table import RawTable, distinct_names, raw_table
from coterie.data.streams import is_streamed
from coterie.data.tables import STDIN, read_table
from coterie.errors import DataError

__all__ = ["read_raw"]

#: A column is numeric where at most this share of its cells is something else, taken as missing.
_MOST_ODD = 0.05
#: What a cell looks like that begins with a zero and has another digit.
_ZERO_FIRST = re.compile(rb"""(?:^|[\n,;\t|])["' ]*0[0-9]""")
_EXCEL = (".xlsx", ".xlsm")
#: How databases begin; that of DuckDB stands after eight other bytes.
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
#: Text of any size is read whole: the rows must fit the memory in any case.
_ANY_SIZE = 1 << 62
#: Bytes and lines of a text that tell whether blanks part its cells; the last line may be cut.
_LOOKED_AT, _FIRST_LINES = 1 << 14, 20


def read_raw(
    places: Sequence[str],
    *,
    decimal: str | None = None,
    header: bool | None = None,
    text: Collection[str] = (),
    complete: bool = False,
    codes: bool = False,
) -> tuple[RawTable, list[str]]:
    """All columns of some files, and how they were read, in sentences.

    Text (CSV, TSV; parted by commas, semicolons, tabs, bars or blanks; UTF-8, UTF-16 or
    Windows-1252; also packed by gzip, bzip2 or Zstandard), Parquet, Arrow or Feather, NPY, Excel
    where openpyxl is there. Numbers may have decimal commas, separators between thousands or
    percent signs.

    Parameters
    ----------
    places
        Paths, patterns, directories or addresses of files of one format; ``-`` is standard input.
    decimal
        The decimal mark of a text file, "." or ","; None to tell it from the cells.
    header
        Whether the first line of a text file holds names; None to tell it from the cells.
    text
        Columns of a text file to take as text, whatever they hold: codes keep their zeros.
    complete
        Refuse a blank line in a text file of one column: it may be a row that lacks its value.
    codes
        Take columns of whole numbers as text, of which some begin with a zero.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataError
        If it cannot be read as a table.
    """
    first = places[0]
    if len(places) == 1 and first.lower().endswith(_EXCEL) and os.path.isfile(first):
        return _of_sheet(Path(first))
    path = Path(first)
    if len(places) == 1 and path.is_file() and (text_of := unpacked(path)) is not None:
        tabs = path.stem.lower().endswith((".tsv", ".tab"))
        return _of_text(
            first, text_of, "\t" if tabs else None, decimal, header, text, complete, codes
        )
    if is_streamed(places, _ANY_SIZE):
        several = joined(places, header)
        if several is None:
            return _of_dataset(places)
        table, notes = _of_text(
            several.name, several.text, "\t" if several.tabs else None,
            decimal, header, text, complete, codes,
        )  # fmt: skip
        return table, several.notes + notes
    if first == STDIN:
        return _of_text(
            "stdin", sys.stdin.buffer.read(), None, decimal, header, text, complete, codes
        )
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    if path.suffix.lower() == ".npy":
        found = read_table(path, missing=True)
        return RawTable(found.names, tuple(found.values.T)), []
    data = path.read_bytes()
    if data.startswith(_SQLITE) or data[8:12] == _DUCKDB:
        raise DataError(
            f"{path}: this is a database, whose rows come by a query: coterie study {path} --query "
            "'SELECT ...', or in Python coterie.data.from_sql."
        )
    if data.startswith(b"\x93NUMPY"):
        raise DataError(f"{path}: this is an NPY array; let its name end in .npy.")
    tabs = path.suffix.lower() in (".tsv", ".tab")
    return _of_text(str(path), data, "\t" if tabs else None, decimal, header, text, complete, codes)


def _of_dataset(places: Sequence[str]) -> tuple[RawTable, list[str]]:
    """Files that Arrow reads: Parquet, Feather, several at once."""
    import pyarrow as pa

    from coterie.data._datasets import Files

    files = Files(places[0] if len(places) == 1 else list(places))
    if files.format == "npy":
        parts = [read_table(path, missing=True).values for path in files.local_paths()]
        return raw_table(np.concatenate(parts)), []
    try:
        table = files.dataset().to_table()
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"{files.name}: not a readable table ({reason}); write it again."
        ) from error
    found = raw_table(table) if table.num_columns else None
    if found is None or not len(found):
        raise DataError(f"{files.name}: there are no rows in it; give files with some.")
    return found, []


def _of_text(
    name: str,
    data: bytes,
    delimiter: str | None,
    decimal: str | None,
    header: bool | None,
    text: Collection[str],
    complete: bool,
    codes: bool,
) -> tuple[RawTable, list[str]]:
    data, notes = as_utf8(data)
    if delimiter is None and _has_blanks_between(data):
        data, delimiter = re.sub(rb" +", b"\t", _trimmed_lines(data)), "\t"
        notes.append("Cells are parted by blanks.")
    file = read_delimited(name, data, delimiter, header, decimal, text)
    if codes and (found := _codes(file)):
        text = [*text, *found]
        file = read_delimited(name, data, delimiter, header, decimal, text)
        notes.append(f"Cells that begin with zeros are codes, no numbers: {listing(found)}.")
    names, renamed = distinct_names(file.titles)
    if len(names) == 1 and (blank := _blank_lines(data)):
        if complete:
            raise DataError(f"{name}: line {blank[0]} is blank; give every row a value.")
        notes.append(f"Blank lines were left out, of which line {blank[0]} is the first.")
    if file.delimiter != "," and notes[-1:] != ["Cells are parted by blanks."]:
        words = {"\t": "tabs", ";": "semicolons", "|": "bars"}[file.delimiter]
        notes.append(f"Cells are parted by {words}.")
    if file.decimal == ",":
        notes.append("Commas are decimal marks.")
    if not file.has_header:
        notes.append("The first line is a row; columns are called x0, x1 and so on.")
    cells = [
        file.values(place) if file.titles[place] in text else _column(file, place, title, notes)
        for place, title in enumerate(names)
    ]
    return RawTable(tuple(names), tuple(cells), tuple(renamed)), notes


def _codes(file: Delimited) -> list[str]:
    """Columns of whole numbers of which some begin with a zero, as postcodes may."""
    import pyarrow.types as types

    whole = [title for place, title in enumerate(file.titles)
             if types.is_integer(file.table.schema.field(place).type)
             and file.titles.count(title) == 1]  # fmt: skip
    if not whole or not _ZERO_FIRST.search(file.data):
        return []
    again = read_delimited(
        file.name, file.data, file.delimiter, file.has_header, file.decimal, whole
    )
    columns = {title: again.values(again.titles.index(title)) for title in whole}
    return [title for title, cells in columns.items()
            if any(cell is not None and re.match("0[0-9]", cell) for cell in cells)]  # fmt: skip


def _blank_lines(data: bytes) -> list[int]:
    """The blank lines before the last that is not, from 1 on."""
    lines = data.rstrip().split(b"\n")
    return [place for place, line in enumerate(lines, 1) if not line.strip()]


def _has_blanks_between(data: bytes) -> bool:
    """Whether blanks part the cells: the first lines have no other mark, and as many words each.

    One column at least holds numbers, or phrases of two words would be two columns.
    """
    lines = [line.decode(errors="replace").split() for line in data[:_LOOKED_AT].splitlines()]
    lines = [words for words in lines if words][:_FIRST_LINES]
    if len(lines) < 2 or any(mark in data[:_LOOKED_AT] for mark in (b",", b";", b"|", b"\t", b'"')):
        return False
    if len(lines[0]) < 2 or len({len(words) for words in lines}) > 1:
        return False
    return any(all(map(notation.is_number, cells)) for cells in zip(*lines[1:], strict=True))


def _trimmed_lines(data: bytes) -> bytes:
    return b"\n".join(line.strip() for line in data.splitlines())


def _column(file: Delimited, place: int, title: str, notes: list[str]) -> Any:
    """A column as numbers, truths, times or words."""
    import pyarrow as pa
    import pyarrow.types as types

    column = file.table.column(place)
    if not types.is_string(column.type):
        (cells,) = raw_table(pa.table({title: column})).cells
        return cells
    words = trimmed(column)
    missing = notation.missing_cells(words)
    numeric = notation.number_cells(words, file.decimal) & ~missing
    odd = ~(numeric | missing)
    if not numeric.any() or odd.sum() > _MOST_ODD * (~missing).sum():
        kept = pa.compute.if_else(pa.array(~missing), words, None)
        (cells,) = raw_table(pa.table({title: kept})).cells
        return cells
    if odd.any():
        line, cell = file.cell(int(odd.argmax()), place)
        told = "1 cell of {} is no number and counts" if odd.sum() == 1 else (
            f"{int(odd.sum()):,} cells of {{}} are no numbers and count"
        )  # fmt: skip
        notes.append(
            f"{told.format(repr(title))} as missing; the first is {cell!r} in line {line}."
        )
    return notation.numbers(words, file.decimal, numeric)


def _of_sheet(path: Path) -> tuple[RawTable, list[str]]:
    """The first sheet of an Excel file; its first row has the names."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise ImportError(
            f"{path}: reading Excel files needs openpyxl: pip install openpyxl; or save the sheet "
            "as CSV."
        ) from error
    try:
        sheet = load_workbook(path, read_only=True, data_only=True).worksheets[0]
        rows = [row for row in sheet.iter_rows(values_only=True) if any(c is not None for c in row)]
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"{path}: not a readable Excel file ({reason}).") from error
    if len(rows) < 2:
        raise DataError(f"{path}: its first sheet has no rows below its names; add some.")
    width = max(map(len, rows))
    full = [(*row, *[None] * (width - len(row))) for row in rows]
    names, renamed = distinct_names(["" if cell is None else str(cell) for cell in full[0]])
    cells = []
    for column in zip(*full[1:], strict=True):
        array = np.empty(len(column), dtype=object)
        array[:] = column
        cells.append(array)
    notes = [f"Its first sheet, {sheet.title!r}, was read."]
    return RawTable(tuple(names), tuple(cells), tuple(renamed)), notes
