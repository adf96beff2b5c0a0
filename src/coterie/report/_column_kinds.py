"""What the columns of a raw table are: measurements, counts, categories, or nothing to cluster by.

A column is told by its cells, and by its name only where the cells leave it open. Every kind that
is left out has its reason, in words that follow the name of the column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import (
    DAY,
    Column,
    column_names,
    columns_of,
    missing_cells,
    numbers,
    sorts_of,
    values_met,
)

#: Kinds whose columns say what a row is like, and those that do not.
USED = ("numeric", "count", "binary", "ordinal", "categorical")
LEFT_OUT = ("date", "text", "id", "constant", "empty")

#: Whole numbers with no more values than this, one after the other, are steps of a scale.
_MOST_STEPS = 10
#: A category with more levels than this tells rows apart, not kinds of rows.
_MOST_LEVELS = 50
#: From this share of distinct cells on a column names its rows, if there are so many rows at least.
_NAMING, _FEWEST_NAMED = 0.95, 10
#: Words a cell has on average where the column is free text.
_WORDS_OF_TEXT = 4
#: Names by which keys go, whatever stands before.
_KEY = re.compile(r"(?:^|[\W_])(?:id|ids|key|uuid|guid|index|idx|rowid|nr|no)$|[a-z]I[dD]$", re.I)
_TIMES = {"time", "numpy time"}
_NO_DATE = "is a date, which says more often when a row was noted than what it is like"
#: Dates as people write them: year first, year last, or with the month in letters; then the time.
_YEAR, _UP_TO_31 = r"(?:1[5-9]|2[01])\d\d", r"(?:0?[1-9]|[12]\d|3[01])"
_LETTERS = r"[^\W\d_]{3,9}[.,]?"
_DATE = re.compile(
    rf"(?:{_YEAR}([-/.]){_UP_TO_31}(?:\1{_UP_TO_31})?"
    rf"|{_UP_TO_31}([-/.]){_UP_TO_31}\2{_YEAR}|\d?\d([-/])\d?\d\3\d\d|\d\d\.\d\d\.\d\d"
    rf"|{_UP_TO_31}\.?[ -]{_LETTERS}[ -]{_YEAR}|{_LETTERS} {_UP_TO_31},? {_YEAR})"
    r"(?:[T ,]+\d?\d:\d\d\S*(?: ?[ap]m)?)?",
    re.IGNORECASE,
)

#: Scales in words, each from its low end to its high end.
_SCALES: tuple[tuple[str, ...], ...] = (
    ("very low", "low", "medium", "high", "very high"),
    ("lowest", "low", "mid", "high", "highest"),
    ("very small", "small", "medium", "large", "very large"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("very poor", "poor", "bad", "fair", "average", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("none", "few", "some", "many", "all"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("primary", "secondary", "tertiary"),
    ("i", "ii", "iii", "iv", "v", "vi"),
)


@dataclass(frozen=True)
class ColumnKind:
    """What a column is.

    `kind` is one of `USED` or `LEFT_OUT`; `reason` says why a column is left out, None of one that
    is used. `levels` are the values of a binary, ordinal (low end first) or categorical column.
    """

    name: str
    place: int
    kind: str
    n_missing: int
    n_distinct: int
    reason: str | None = None
    levels: tuple[Any, ...] = ()

    @property
    def is_used(self) -> bool:
        return self.reason is None


def column_kinds(X: Any) -> list[ColumnKind]:
    """The kinds of all columns of a table, in their order: O(n log n) time per column.

    Parameters
    ----------
    X : data frame, Arrow table or array of shape (n_rows, n_columns)
        Columns of an array are called x0, x1 and so on.
    """
    columns = columns_of(X)
    names = column_names(X) or [f"x{place}" for place in range(len(columns))]
    return [
        _kind(name, place, column)
        for place, (name, column) in enumerate(zip(names, columns, strict=True))
    ]


def _kind(name: str, place: int, column: Column) -> ColumnKind:
    missing = missing_cells(column)
    sorts = sorts_of(column)
    told = _of_words
    if sorts == {"number"} or column.dtype.kind == "m":  # durations, in days
        told, missing = _of_numbers, ~np.isfinite(numbers(column, DAY))
    elif sorts and sorts <= _TIMES:
        told = _of_times
    kind, n_distinct, reason, levels = told(name, column, missing)
    return ColumnKind(name, place, kind, int(missing.sum()), n_distinct, reason, levels)


#: Kind, number of distinct values, reason and levels.
Told = tuple[str, int, str | None, tuple[Any, ...]]


def _plainly(n_distinct: int, n_rows: int, value: Any) -> Told | None:
    """Columns of one value or none, whatever the cells are."""
    if n_distinct == 0:
        reason = "has no value in any row" if n_rows else "has no rows"
        return "empty", 0, reason, ()
    if n_distinct == 1:
        return "constant", 1, f"is {value} wherever it is known", ()
    return None


def _of_times(name: str, column: Column, missing: npt.NDArray[np.bool_]) -> Told:
    values = numbers(column, DAY)
    known = np.sort(values[~missing])
    n_distinct = _n_distinct(known)
    plain = _plainly(n_distinct, len(column), column[int(np.argmin(missing))] if known.size else "")
    return plain or ("date", n_distinct, _NO_DATE, ())


def _of_numbers(name: str, column: Column, missing: npt.NDArray[np.bool_]) -> Told:
    known = np.sort(numbers(column, DAY)[~missing])
    n_distinct = _n_distinct(known)
    plain = _plainly(n_distinct, len(column), f"{known[0]:g}" if known.size else None)
    if plain is not None:
        return plain
    met = known[np.concatenate([[True], known[1:] != known[:-1]])] if n_distinct < 100 else known
    if n_distinct == 2:
        return "binary", 2, None, tuple(met.tolist())
    whole = bool(np.isfinite(known).all() and (known == np.rint(known)).all())
    if not whole:
        return "numeric", n_distinct, None, ()
    if _names_rows(name, known, n_distinct):
        return "id", n_distinct, "numbers the rows", ()
    if n_distinct <= _MOST_STEPS and met[-1] - met[0] == n_distinct - 1:
        return "ordinal", n_distinct, None, tuple(met.tolist())
    return ("count" if known[0] >= 0 else "numeric"), n_distinct, None, ()


def _names_rows(name: str, known: npt.NDArray[np.float64], n_distinct: int) -> bool:
    """Whether whole numbers are keys: one after the other, or distinct and called so."""
    if n_distinct < _NAMING * known.size or known.size < _FEWEST_NAMED:
        return False
    one_by_one = n_distinct == known.size and known[-1] - known[0] == known.size - 1
    return bool(one_by_one or _KEY.search(name.strip()))


def _of_words(name: str, column: Column, missing: npt.NDArray[np.bool_]) -> Told:
    n_known = int(len(column) - missing.sum())
    try:
        met = values_met(column)
    except TypeError:  # cells without a hash
        return "text", n_known, "holds lists or records, which are no single values", ()
    n_distinct = len(met)
    plain = _plainly(n_distinct, len(column), met[0] if met else None)
    if plain is not None:
        return plain
    if sum(_DATE.fullmatch(str(value).strip()) is not None for value in met) >= _NAMING * len(met):
        return "date", n_distinct, _NO_DATE, ()
    if n_known >= _FEWEST_NAMED and n_distinct >= _NAMING * n_known:
        if _mean_words(met) >= _WORDS_OF_TEXT:
            return "text", n_distinct, "is free text, a different one in nearly every row", ()
        return "id", n_distinct, "names the rows: nearly every one has its own", ()
    scale = _scale(met)
    if scale is not None and n_distinct > 2:
        return "ordinal", n_distinct, None, scale
    if n_distinct > _MOST_LEVELS or n_distinct > max(2, n_known // 2):
        reason = f"has {n_distinct:,} different values in {n_known:,} rows, too many to compare by"
        return "text", n_distinct, reason, ()
    levels = tuple(sorted(met, key=lambda level: (str(type(level)), level)))
    return ("binary" if n_distinct == 2 else "categorical"), n_distinct, None, levels


def _scale(met: Sequence[Any]) -> tuple[Any, ...] | None:
    """The values from the low end of a known scale to its high end; None if they are on none."""
    words = {str(value).strip().lower(): value for value in met}
    for scale in _SCALES:
        if len(words) == len(met) and words.keys() <= set(scale):
            return tuple(words[step] for step in scale if step in words)
    return None


def _mean_words(values: Sequence[Any]) -> float:
    some = values[:1000]
    return sum(len(str(value).split()) for value in some) / len(some)


def _n_distinct(ordered: npt.NDArray[np.float64]) -> int:
    """How many different values a sorted array has."""
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if ordered.size else 0
