"""Numbers as people write them: separators, percent signs, and marks for a missing value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NULLS", "guess_decimal", "is_number", "missing_cells", "number_cells", "numbers"]

#: What stands for a missing value, in any case; an empty cell does, too.
_MARKS = (
    "", "?", "-", "--", "–", "—", ".", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "nil",
    "#n/a", "#na", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
)  # fmt: skip
#: The same as Arrow wants them, which knows a mark in the cases people write.
NULLS = sorted(
    {way(mark) for mark in _MARKS for way in (str.lower, str.upper, str.title)} | {"NaN", "-NaN"}
)

_SIGN, _EXPONENT = r"[+\-−]?\s*", r"(?:[eE][+\-]?\d+)?"
_INFINITE = r"(?i:inf(?:inity)?)"
#: What may stand between groups of digits besides the comma or the point.
_SPACES = "'’\u00a0\u202f\u2009 "


def _number(decimal: str) -> str:
    """The pattern of a number; a group of thousands does not begin with 0."""
    point = "[.]" if decimal == "." else ","
    between = f"[{',' if decimal == '.' else '.'}{_SPACES}]"
    grouped = rf"[1-9]\d{{0,2}}(?:{between}\d{{2,3}})*{between}\d{{3}}"
    digits = rf"(?:(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)"
    return rf"^{_SIGN}(?:{digits}{_EXPONENT}\s*%?|{_INFINITE})$"


#: Commas that can only be decimal, that can only part thousands, and that could be either.
_DECIMAL_COMMA = (
    rf"^{_SIGN}(?:\d*,(?:\d{{1,2}}|\d{{4,}})|0*,\d+|\d{{4,}},\d+|\d{{1,3}}(?:[.]\d{{3}})+,\d+)"
    rf"{_EXPONENT}\s*%?$"
)
_PARTING_COMMA = rf"^{_SIGN}[1-9]\d{{0,2}}(?:(?:,\d{{3}}){{2,}}(?:[.]\d*)?|,\d{{3}}[.]\d*)\s*%?$"
_EITHER_COMMA = rf"^{_SIGN}[1-9]\d{{0,2}},\d{{3}}\s*%?$"


def is_number(cell: str) -> bool:
    """Whether a cell is a number with either decimal mark."""
    import re

    return any(re.search(_number(decimal), cell.strip()) for decimal in ".,")


def missing_cells(cells: Any) -> npt.NDArray[np.bool_]:
    """Which of these trimmed cells (an Arrow column of text) mark a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(_MARKS, pa.string())
    marked = pc.is_in(pc.utf8_lower(cells), value_set=known)
    return _flags(pc.or_(marked, cells.is_null()))


def number_cells(cells: Any, decimal: str) -> npt.NDArray[np.bool_]:
    """Which of these trimmed cells are numbers."""
    return _matching(cells, _number(decimal))


def percent_cells(cells: Any) -> npt.NDArray[np.bool_]:
    """Which of these trimmed cells end in a percent sign."""
    return _matching(cells, "%$")


def numbers(cells: Any, decimal: str, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The numbers of the cells that are `known` to be some, a hundredth for percent; else NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    percent = percent_cells(cells)
    plain = pc.replace_substring(cells.filter(pa.array(known)), "−", "-")
    between = "," if decimal == "." else "."
    plain = pc.replace_substring_regex(plain, rf"[{between}%\s{_SPACES}]", "")
    plain = pc.replace_substring(plain, decimal, ".")
    values = np.full(len(cells), np.nan)
    values[known] = plain.cast(pa.float64()).to_numpy()
    values[percent] /= 100
    return values


def guess_decimal(columns: list[Any], delimiter: str, has_points: bool) -> str | None:
    """The decimal mark of a file whose text columns (trimmed) are these; None if it cannot tell.

    Between commas a comma in a number parts thousands. Between semicolons or tabs, cells that can
    be read in only one way decide. If there are none, a file that `has_points` in other columns
    has no decimal commas; else semicolons were used because commas are decimal, and tabs say
    nothing.
    """
    if delimiter == ",":
        return "."

    def count(pattern: str) -> int:
        return sum(int(_matching(cells, pattern).sum()) for cells in columns)

    n_decimal, n_parting = count(_DECIMAL_COMMA), count(_PARTING_COMMA)
    if n_decimal or n_parting:
        return "," if n_decimal >= n_parting else "."
    if has_points or not count(_EITHER_COMMA):
        return "."
    return "," if delimiter == ";" else None


def either_comma(cells: Any) -> npt.NDArray[np.bool_]:
    """Which of these trimmed cells are numbers with one comma that may be decimal or not."""
    return _matching(cells, _EITHER_COMMA)


def _matching(cells: Any, pattern: str) -> npt.NDArray[np.bool_]:
    import pyarrow.compute as pc

    return _flags(pc.match_substring_regex(cells, pattern))


def _flags(column: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(column.fill_null(False).to_numpy(), dtype=bool)
