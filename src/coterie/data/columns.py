"""Tables of mixed columns as numbers: their columns, what the cells are, numbers and codes.

One mechanism for Gower's metric, the mixtures and the command line. What they choose themselves is
which sorts of cells they count as numbers, the unit of times, and what becomes of a category that
was never seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data._words import Words, words_of

#: Cells of one sort or objects: an array or, of text in Arrow, `Words`, which answer as one does.
Column = npt.NDArray[Any]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

#: The code of a missing cell, and of a category that is none of those known.
MISSING, UNKNOWN = -1, -2
#: Numbers looked at in one go.
_TILE_NUMBERS = 1 << 18
#: What times may be counted in.
DAY, SECOND = np.timedelta64(1, "D"), np.timedelta64(1, "s")
#: What the cells of arrays of each of NumPy's kinds are; objects may be anything.
_SORTS = {"b": "truth", **dict.fromkeys("iuf", "number"), **dict.fromkeys("mM", "time")}
#: What objects are, by their types, the first that fits: a bool is an int, a duration NumPy's.
_SORTS_OF_OBJECTS: tuple[tuple[str, Any], ...] = (
    ("truth", bool),
    ("numpy truth", np.bool_),
    ("time", date),
    ("numpy time", np.datetime64),
    ("numpy duration", np.timedelta64),
    ("number", (int, float, np.number)),
)


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns of their own types (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not sp.issparse(X)


def columns_of(X: Any) -> list[Any]:
    """The columns of a table or of a 2-d array; none of anything else."""
    if hasattr(X, "iloc"):  # pandas, where a name may stand twice
        return [np.asarray(X.iloc[:, c]) for c in range(X.shape[1])]
    if hasattr(X, "column_names"):  # Arrow, whose `columns` are the columns
        return [_of_arrow(column) for column in X.columns]
    if hasattr(X, "columns"):
        cells: list[Any] = [X[name] for name in X.columns]
        return [one if isinstance(one, Words) else np.asarray(one) for one in cells]
    rows = np.asarray(X)
    return list(rows.T) if rows.ndim == 2 else []


def _of_arrow(column: Any) -> Any:
    """A column of an Arrow table; decimals are numbers, text is `Words`."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type
    if types.is_dictionary(kind):  # whose nulls NumPy would be given as some word
        kind = kind.value_type
        column = column.cast(kind)
    if types.is_decimal(kind):
        column = column.cast(pa.float64())
    words = words_of(column) if types.is_string(kind) or types.is_large_string(kind) else None
    return np.asarray(column) if words is None else words


def column_names(X: Any) -> list[str] | None:
    """The names of the columns of a data frame or an Arrow table."""
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def column_words(names: Sequence[str] | None, column: int) -> str:
    """What to call a column: its name where there is one."""
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def place_of(key: Any, names: Sequence[Any] | None, n_cols: int, least: int = 0) -> int | None:
    """The place of a column given by its name, or by its place from `least` on; None without one.

    Places below 0 count from the end.
    """
    if names is not None and key in names:
        return list(names).index(key)
    is_place = isinstance(key, (int, np.integer)) and least <= key < n_cols
    return int(key) % n_cols if is_place else None


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN or a table library's own mark for a missing value."""
    # A missing value is the only one that is not equal to itself; pandas.NA is neither.
    try:
        return cell is None or not bool(cell == cell)
    except TypeError:
        return True
    except ValueError:  # an array, as columns of lists have them
        return False


def missing_cells(column: Column) -> npt.NDArray[np.bool_]:
    """Which cells of a column are missing."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    if isinstance(column, Words):
        return column.missing()
    return np.array([is_missing(cell) for cell in column], dtype=bool)


def sorts_of(column: Column) -> set[str]:
    """What the cells that are there are: "number", "truth", "time" or, anything else, "word".

    NumPy's own scalars among objects are "numpy truth", "numpy time" and "numpy duration": callers
    differ about them.
    """
    if isinstance(column, Words):
        return set() if column.missing().all() else {"word"}
    if column.dtype.kind != "O":
        return {_SORTS.get(column.dtype.kind, "word")}
    return {_sort_of(cell) for cell in column[~missing_cells(column)]}


def _sort_of(cell: Any) -> str:
    return next((sort for sort, types in _SORTS_OF_OBJECTS if isinstance(cell, types)), "word")


def numbers(column: Column, unit: np.timedelta64 | None = None) -> Floats:
    """A column as float64 with NaN where it is missing.

    Times count in `unit` from 1970 on, those with a time zone as the same moment in UTC, and
    columns of durations in `unit`; without a unit they are no numbers.
    """
    column = np.asarray(column)
    if column.dtype.kind == "O":
        values, known = np.full(column.shape, np.nan), ~missing_cells(column)
        cells = column[known]
        if cells.size and sorts_of(cells) <= {"time", "numpy time"}:
            cells = np.array([_moment(cell) for cell in cells])
        values[known] = _as_floats(cells, unit)
        return values
    return _as_floats(column, unit)


def _as_floats(cells: Column, unit: np.timedelta64 | None) -> Floats:
    """Cells of which none is missing, or NaN or NaT where one is, as float64."""
    if cells.dtype.kind not in "mM":
        return cells.astype(np.float64)
    if unit is None:
        raise TypeError("times are no numbers")
    since: Any = cells - np.datetime64(0, "D") if cells.dtype.kind == "M" else cells
    return np.asarray(since / unit)


def _moment(cell: Any) -> Any:
    """A date without its time zone, at the same moment in UTC."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


class Cell(NamedTuple):
    """A place in a table, and what stands there."""

    row: int
    column: int
    value: Any

    def column_words(self, names: Sequence[str] | None) -> str:
        """The column by its name, where it has one."""
        return str(self.column) if names is None else repr(str(names[self.column]))


def not_finite(values: Any) -> Any:
    """Which numbers are NaN or infinity."""
    return ~np.isfinite(values)


def first_odd(rows: Any, odd: Callable[[Any], Any]) -> Cell | None:
    """The first number, row by row, for which `odd` holds; None without one."""
    if sp.issparse(rows):
        at = np.flatnonzero(odd(rows.data))
        if not at.size:
            return None
        row = int(np.searchsorted(rows.indptr, at[0], side="right")) - 1
        return Cell(row, int(rows.indices[at[0]]), float(rows.data[at[0]]))
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        mask = odd(rows[start : start + step])
        if mask.any():
            row, column = (int(at) for at in np.argwhere(mask)[0])
            return Cell(start + row, column, float(rows[start + row, column]))
    return None


def finite_numbers(
    who: str, name: str, column: Column, unit: np.timedelta64, remedy: str, start: int = 0
) -> Floats:
    """`numbers`, refused where a cell is none or infinite; `remedy` is for cells that are none.

    `start` is the number of the first row.
    """
    try:
        values = numbers(column, unit)
    except (TypeError, ValueError) as error:
        # The first words are scikit-learn's, which tools look for.
        raise type(error)(
            f"{who}: argument must be a string or a number, and a number where a column is "
            f"numeric, but {name} holds {_first_word(column)!r}; {remedy}."
        ) from error
    if np.isinf(values).any():
        raise ValueError(
            f"{who}: {name} contains infinity in row {start + int(np.argmax(np.isinf(values)))}; "
            "mark the cell as missing (NaN) or leave the row out."
        )
    return values


def _first_word(column: Column) -> Any:
    for cell in column[~missing_cells(column)].tolist():
        try:
            float(cell)
        except (TypeError, ValueError):
            return cell
    return column[0]


def values_met(column: Column) -> list[Any]:
    """The values of a column, each once, in the order in which they are met."""
    if isinstance(column, Words):
        return column.met()
    return list(dict.fromkeys(column[~missing_cells(column)]))


def codes(column: Column, values: Sequence[Any] | Column) -> Codes:
    """The place of every cell among the values, `MISSING` or `UNKNOWN`; arrays must be sorted."""
    if isinstance(column, Words):
        return column.among({value: code for code, value in enumerate(values)}, MISSING, UNKNOWN)
    found = np.full(column.shape, MISSING, dtype=np.int32)
    known = ~missing_cells(column)
    cells = column[known]
    if isinstance(values, np.ndarray) and "O" not in (values.dtype.kind, cells.dtype.kind):
        places = np.minimum(np.searchsorted(values, cells), len(values) - 1)
        found[known] = np.where(values[places] == cells, places, UNKNOWN)
    else:
        place = {value: code for code, value in enumerate(values)}
        found[known] = [place.get(cell, UNKNOWN) for cell in cells]
    return found


def one_hot(coded: Sequence[Codes], sizes: Sequence[int]) -> Any:
    """A one for the category of every cell, a place each; nothing where it is missing. CSR."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.column_stack(coded)
    known = places >= 0
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    indices = (places + starts)[known].astype(np.int32)
    return sp.csr_matrix(
        (np.ones(indices.size), indices, indptr), shape=(len(places), int(sum(sizes)))
    )
