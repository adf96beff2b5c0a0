"""Delimited text as columns: numbers where a column holds numbers, words where it does not."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import _notation as notation
from coterie.errors import DataError

#: Bytes of text that Arrow parses in one go; a line must fit in.
_BLOCK_BYTES = 1 << 26

#: What to say of a text file of one line, which holds names.
ONLY_HEADER = "there is a header but no rows; add rows of data"

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Left:
    """A column that cannot be used, and why, in words that follow its name."""

    why: str


@dataclass
class Delimited:
    """A parsed file; `titles` are the names of its columns, some of which may be empty."""

    name: str
    data: bytes
    delimiter: str
    titles: list[str]
    has_header: bool
    decimal: str
    table: Any
    _read: dict[int, Column | Left] = field(default_factory=dict)
    _notes: dict[int, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def notes(self) -> list[str]:
        """What is odd about columns that were read."""
        return list(self._notes.values())

    def plain_titles(self) -> list[str]:
        """Names of the columns that are numeric at first sight."""
        return [title for place, title in enumerate(self.titles) if self._is_plain(place)]

    def refusal(self, place: int, text: bool) -> Left | None:
        """Why a column cannot be used, if it cannot; DataError if a few cells are to blame."""
        if self._is_plain(place):
            return None
        if place not in self._read:
            self._read[place] = self._read_words(place)
        found = self._read[place]
        if isinstance(found, Left):
            return found
        if self.holds_words(place) and not text:
            texts = [row for row, cell in enumerate(found) if cell is not None]
            row = next((row for row in texts if not notation.is_number(found[row])), texts[0])
            return Left(f"holds text, such as {found[row]!r} in line {self.cell(row, place)[0]}")
        return None

    def holds_words(self, place: int) -> bool:
        """Whether a column that is not refused holds text."""
        found = self._read.get(place)
        return isinstance(found, np.ndarray) and found.dtype == object

    def values(self, place: int) -> Column:
        """A column that is not refused: float64 with NaN, or an object array of str and None."""
        found = self._read.get(place)
        if found is not None:
            assert not isinstance(found, Left)
            return found
        import pyarrow as pa

        column = self.table.column(place)
        if column.null_count:
            column = column.cast(pa.float64(), safe=False)
        return np.asarray(column.to_numpy(), dtype=np.float64)

    def cell(self, row: int, place: int) -> tuple[int, str]:
        """Line in the file and text of a cell, as it stands there; reads the file up to it."""
        for found, (line, cells) in enumerate(_lines(self.data, self.delimiter)):
            if found == row + self.has_header and place < len(cells):
                return line, cells[place].strip()
        return row + 1 + self.has_header, ""

    def _is_plain(self, place: int) -> bool:
        """Whether Arrow has read the column as numbers."""
        import pyarrow.types as kinds

        kind = self.table.schema.field(place).type
        return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)

    def _read_words(self, place: int) -> Column | Left:
        """A column that Arrow has not read as numbers: numbers all the same, or words."""
        import pyarrow.types as kinds

        kind = self.table.schema.field(place).type
        if kinds.is_null(kind):
            return Left("has no value in any row")
        if kinds.is_temporal(kind):
            return Left(f"holds dates or times, such as {self.cell(0, place)[1]!r}")
        cells = trimmed(self.table.column(place))
        if isinstance(cells, Left):
            return cells
        missing = notation.missing_cells(cells)
        if missing.all():
            return Left("has no value in any row")
        numeric = notation.number_cells(cells, self.decimal) & ~missing
        if 2 * numeric.sum() <= (~missing).sum():
            words = np.array(cells.to_pylist(), dtype=object)
            words[missing] = None
            return words
        wrong = ~(numeric | missing)
        if wrong.any():
            raise self._bad_cell(place, wrong)
        percent = notation.percent_cells(cells)
        if percent.any() and (numeric & ~percent).any():
            line, cell = self.cell(int(percent.argmax()), place)
            self._notes[place] = (
                f"column {self.titles[place]!r} has a percent sign in {int(percent.sum()):,} of "
                f"{int(numeric.sum()):,} cells (the first is {cell!r} in line {line}, read as "
                f"{notation.numbers(cells, self.decimal, numeric)[percent][0]:g})"
            )
        return notation.numbers(cells, self.decimal, numeric)

    def _bad_cell(self, place: int, wrong: npt.NDArray[np.bool_]) -> DataError:
        """What to say of a numeric column with a few cells that are none."""
        line, cell = self.cell(int(wrong.argmax()), place)
        others = f" (and {int(wrong.sum()) - 1:,} more cells)" if wrong.sum() > 1 else ""
        advice = "mend the cell, leave it empty if it is missing, or leave the column out"
        if notation.is_number(cell):
            other = "," if self.decimal == "." else "."
            advice = f"mend the cell, or pass --decimal '{other}' if that is the decimal mark"
        return DataError(
            f"{self.name}: line {line}, column {self.titles[place]!r}: {cell!r} is not a number"
            f"{others}; {advice}."
        )


def read_delimited(
    name: str,
    data: bytes,
    delimiter: str | None,
    header: bool | None,
    decimal: str | None,
    categorical: Collection[str],
    columns: Sequence[str] | None = None,
) -> Delimited:
    """Parse text with Arrow, which infers the type of a column from all its cells.

    Where that is not told, the delimiter is what the first line has most of, the first line has
    names unless its cells are numbers, and the decimal mark is what `guess_decimal` says. Where
    there are no names, as many `columns` as there are name them.
    """
    first, delimiter = first_line(name, data, delimiter)
    has_header = has_names(first) if header is None else header
    titles = first if has_header else [f"x{index}" for index in range(len(first))]
    if columns is not None and not has_header:
        strange = len(columns) == len(titles) and not set(columns) & set(titles)
        titles = list(columns) if strange else titles
    for title in categorical:
        if title not in titles:
            raise no_column(name, title, titles)

    line = data.lstrip(b"\r\n")
    if b"\n" not in line and b"\r" not in line:
        data = line + b"\n"  # Arrow takes a lone line without an end for a damaged file
    table = _parse(name, data, delimiter, has_header, decimal or ".")
    if table.num_rows == 0:
        raise DataError(f"{name}: {ONLY_HEADER}.")
    if decimal is None:
        decimal = _guess_decimal(name, data, delimiter, has_header, titles, table)
        if decimal == ",":
            table = _parse(name, data, delimiter, has_header, decimal)
    file = Delimited(name, data, delimiter, titles, has_header, decimal, table)
    for title in categorical:
        place = titles.index(title)
        file._read[place] = _words(name, data, delimiter, has_header, title, place, table)
    if categorical:
        # What was read as words is no longer numeric at first sight.
        file.table = _as_null(table, [titles.index(title) for title in categorical])
    return file


def listing(names: Collection[str]) -> str:
    """Names in one line, the first twenty of them."""
    shown = ", ".join(list(names)[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def no_column(name: str, asked: str, available: Sequence[str]) -> DataError:
    """What to say of a column that a table does not have: the name that comes nearest, or all."""
    lower = {title.lower(): title for title in available}
    near = get_close_matches(asked.lower(), lower, n=1)
    advice = (
        f"did you mean {lower[near[0]]!r}? Names must agree to the letter"
        if near
        else "name one of these, or rename a column of the file"
    )
    return DataError(f"{name}: no column {asked!r}; it has {listing(available)}; {advice}.")


def trimmed(column: Any) -> Any:
    """The cells of a text column without blanks around them."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if kinds.is_binary(column.type):
        bad = next(cell for cell in column.to_pylist() if _undecodable(cell))
        return Left(
            f"holds text that is not UTF-8, such as {bad.decode('latin-1')!r} if it is Latin-1 "
            "(convert the file with iconv -f latin1 -t utf-8)"
        )
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _undecodable(cell: bytes | None) -> bool:
    try:
        (cell or b"").decode()
    except UnicodeDecodeError:
        return True
    return False


def first_line(name: str, data: bytes, delimiter: str | None) -> tuple[list[str], str]:
    """The cells of the first line that is not blank, and what separates them."""
    if not data.strip():
        raise DataError(f"{name}: the file is empty; give a table with rows.")
    if b"\0" in data[: 1 << 16]:
        raise DataError(
            f"{name}: not a text file (it contains zero bytes); save it as CSV in UTF-8."
        )
    first = next(line for line in io.BytesIO(data) if line.strip(b"\r\n"))
    try:
        # "-sig" drops the mark that some programs put before UTF-8 text.
        text = first.lstrip(b"\r\n").splitlines()[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: the first line is not UTF-8 text; convert the file, for example with "
            f"iconv -f latin1 -t utf-8."
        ) from error
    delimiter = delimiter or _likely_delimiter(text)
    try:
        (cells,) = csv.reader([text], delimiter=delimiter)
    except (csv.Error, ValueError) as error:
        raise DataError(f"{name}: the first line is not a row of a table.") from error
    return [cell.strip() for cell in cells], delimiter


def _likely_delimiter(text: str) -> str:
    """What a line has most of, unless commas are decimal and it is all numbers between others.

    Of equally many, commas are what decimal marks may be.
    """
    for delimiter in ";\t|":
        cells = text.split(delimiter)
        if len(cells) > 1 and all(notation.is_number(cell) for cell in cells):
            return delimiter
    likely = max(";\t|,", key=text.count)
    return likely if likely in text else ","


def has_names(cells: list[str]) -> bool:
    """Whether a first line holds names: not all numbers, and none with a fraction.

    Or the numbers of the columns, 0, 1, 2 and so on, which data frames write without names.
    """
    if len(cells) > 1 and cells == [str(place) for place in range(len(cells))]:
        return True
    numbers = [cell for cell in cells if notation.is_number(cell)]
    return len(numbers) < len(cells) and not any("." in cell for cell in numbers)


def _parse(
    name: str, data: bytes, delimiter: str, has_header: bool, decimal: str, **options: Any
) -> Any:
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
            pa.BufferReader(_of_arrow(data)),
            read_options=pa_csv.ReadOptions(
                block_size=_BLOCK_BYTES,
                autogenerate_column_names=not has_header,
            ),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter),
            convert_options=pa_csv.ConvertOptions(
                null_values=notation.NULLS, decimal_point=decimal, **options
            ),
        )
    except pa.ArrowInvalid as error:
        uneven = next(_uneven_rows(data, delimiter), None)
        if uneven is None:
            reason = " ".join(str(error).split())
            raise DataError(f"{name}: not a readable table ({reason}).") from error
        line, n_cells, expected = uneven
        raise DataError(
            f"{name}: line {line} has {n_cells} cell{'' if n_cells == 1 else 's'} where the first "
            f"line has {expected}; add or remove cells, or quote those that contain the separator."
        ) from error


def _of_arrow(data: bytes) -> Any:
    """A copy of bytes that Arrow owns.

    Its threads may let go of the last of a text after the table was handed over. To let go of
    Python's bytes they take its lock, and a process that ends in that moment is aborted.
    """
    import pyarrow as pa

    owned = pa.allocate_buffer(len(data))
    np.frombuffer(owned, np.uint8)[:] = np.frombuffer(data, np.uint8)
    return owned


def _words(
    name: str, data: bytes, delimiter: str, has_header: bool, title: str, place: int, table: Any
) -> Column | Left:
    """A column as text, whatever it looks like."""
    import pyarrow as pa

    own = table.schema.names[place]
    column = _parse(
        name,
        data,
        delimiter,
        has_header,
        ".",
        include_columns=[own],
        column_types={own: pa.string()},
    ).column(0)
    cells = trimmed(column)
    words = np.array(cells.to_pylist(), dtype=object)
    words[notation.missing_cells(cells)] = None
    return words if any(word is not None for word in words) else Left("has no value in any row")


def _as_null(table: Any, places: list[int]) -> Any:
    import pyarrow as pa

    for place in places:
        table = table.set_column(place, table.schema.names[place], pa.nulls(table.num_rows))
    return table


def _guess_decimal(
    name: str, data: bytes, delimiter: str, has_header: bool, titles: list[str], table: Any
) -> str:
    """The decimal mark; refuses to guess where a comma may be decimal or not."""
    import pyarrow.types as kinds

    if delimiter == ",":
        return "."
    types = [field.type for field in table.schema]
    places = [place for place, kind in enumerate(types) if kinds.is_string(kind)]
    columns = [trimmed(table.column(place)) for place in places]
    found = notation.guess_decimal(
        columns, delimiter, any(kinds.is_floating(kind) for kind in types)
    )
    if found is not None:
        return found
    for place, cells in zip(places, columns, strict=True):
        either = notation.either_comma(cells)
        if either.any():
            file = Delimited(name, data, delimiter, titles, has_header, ".", table)
            line, cell = file.cell(int(either.argmax()), place)
            raise DataError(
                f"{name}: line {line}, column {titles[place]!r}: {cell!r} may be a decimal or "
                "thousands; pass --decimal ',' or --decimal '.' to say which."
            )
    raise AssertionError("a file that cannot be told has such a cell")


def _lines(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it ends in; stops at what is no row."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", errors="replace", newline=None)
    reader = csv.reader(text, delimiter=delimiter)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error:
        return


def _uneven_rows(data: bytes, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Lines with another number of cells than the first: line number, cells, cells expected."""
    expected = 0
    for line, cells in _lines(data, delimiter):
        expected = expected or len(cells)
        if len(cells) != expected:
            yield line, len(cells), expected
