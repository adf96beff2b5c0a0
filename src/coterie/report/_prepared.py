"""A raw table made ready: which columns count, as what, and as points."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import Column, columns_of, missing_cells, numbers
from coterie.data.encoding import (
    ColumnCode,
    encode,
    finite,
    learn_levels,
    learn_measure,
    learn_steps,
)
from coterie.data.raw_table import RawTable
from coterie.errors import DataError
from coterie.report._column_kinds import ColumnKind, column_kinds
from coterie.report._numbers import count

Floats = npt.NDArray[np.float64]

#: Counts whose skewness is above this are compared by their logarithms.
_SKEWED = 2.0
#: The share of categories among the columns from which on a table is one of categories.
_DISCRETE = 0.1
#: Columns that are named one by one where something is said of several.
_MOST_NAMES = 5
#: Columns left out whose reasons are told; the list of columns has all.
_MOST_TOLD = 20


@dataclass(frozen=True)
class Prepared:
    """The columns of a table and what was made of them.

    `points` has shape (n_rows, n_places): the columns that are used, coded by `codes`, each with a
    total variance of 1. `notes` say in a sentence each what a reader should know.
    """

    kinds: tuple[ColumnKind, ...]
    codes: tuple[ColumnCode, ...]
    points: Floats
    notes: tuple[str, ...]

    @property
    def used(self) -> list[ColumnKind]:
        """The columns that count."""
        return [kind for kind in self.kinds if kind.is_used]

    @property
    def is_mixed(self) -> bool:
        """Whether some column holds levels without an order."""
        return any(kind.kind == "categorical" for kind in self.used)

    @property
    def has_levels(self) -> bool:
        """Whether some column holds few values, with or without an order."""
        return any(kind.levels for kind in self.used)

    @property
    def is_discrete(self) -> bool:
        """Whether categories, of two levels or more, make up a tenth of the columns at least."""
        n_categories = sum(kind.kind in ("binary", "categorical") for kind in self.used)
        return n_categories >= _DISCRETE * len(self.used)

    def cells(self, table: RawTable) -> RawTable:
        """The columns that count as they stand; what is no finite number is missing in numbers."""
        columns = [
            table[kind.name] if kind.levels else finite(table[kind.name]) for kind in self.used
        ]
        return RawTable(tuple(kind.name for kind in self.used), tuple(columns))

    def holes(self, cells: RawTable) -> npt.NDArray[np.bool_]:
        """Which numbers of the points of some cells stand for a missing one."""
        missing = [missing_cells(column) for column in cells.cells]
        n_places = [len(code.places) for code in self.codes]
        return np.repeat(np.column_stack(missing), n_places, axis=1)

    @property
    def spans(self) -> list[slice]:
        """Where the places of every column that counts are among those of the points."""
        ends = np.cumsum([len(code.places) for code in self.codes]).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def place_names(self) -> list[str]:
        """What every column of `points` stands for."""
        return [place for code in self.codes for place in code.places]


def prepare(X: Any, without: Collection[str] = (), name: str = "the table") -> Prepared:
    """Tell the columns of a table, leave out those that say nothing, and code the others.

    Columns named in `without` are set aside.

    O(n log n) time per column; memory: the points.
    """
    columns = columns_of(X)
    kinds = [_set_aside(kind) if kind.name in without else kind for kind in column_kinds(X)]
    if not kinds or not len(columns[0]):
        raise DataError(f"{name} has shape {np.shape(X)}; give one with rows and columns.")
    used = [kind for kind in kinds if kind.is_used]
    if not used:
        told, more = _told(kinds), len(kinds) - _MOST_NAMES
        others = f" and {more:,} more columns" if more > 0 else ""
        raise DataError(
            f"{name}: no column can be used: {'; '.join(told[:_MOST_NAMES])}{others}; give columns "
            "of numbers or of categories."
        )
    codes = tuple(_code(kind, columns[kind.place]) for kind in used)
    points = encode([columns[kind.place] for kind in used], codes)
    return Prepared(tuple(kinds), codes, points, tuple(_notes(kinds, columns, codes)))


def _set_aside(kind: ColumnKind) -> ColumnKind:
    return replace(kind, reason="was set aside")


def _code(kind: ColumnKind, column: Column) -> ColumnCode:
    if kind.kind in ("binary", "ordinal"):
        return learn_steps(kind.name, column, kind.levels)
    if kind.kind == "categorical":
        return learn_levels(kind.name, column, kind.levels)
    return learn_measure(kind.name, column, logs=kind.kind == "count" and _is_skewed(column))


def _is_skewed(column: Column) -> bool:
    """Whether the third moment of the numbers, in units of their deviation, is large."""
    values = numbers(column)
    known = values[np.isfinite(values)]
    known = known / max(1.0, float(np.abs(known).max(initial=0)))
    about = known - known.mean()
    spread = float(np.sqrt(np.square(about).mean()))
    return spread > 0 and float(np.power(about / spread, 3).mean()) > _SKEWED


def _notes(
    kinds: Sequence[ColumnKind], columns: Sequence[Column], codes: Sequence[ColumnCode]
) -> list[str]:
    """What was left out, filled, or looked at in another way."""
    told = _told(kinds)
    notes = [f"Left out: {one}." for one in told[:_MOST_TOLD]]
    if len(told) > _MOST_TOLD:
        notes.append(f"{len(told) - _MOST_TOLD:,} more columns are left out.")
    holes = [kind for kind in kinds if kind.is_used and kind.n_missing]
    if holes:
        n_cells, n_rows = sum(kind.n_missing for kind in holes), len(columns[0])
        notes.append(
            f"{count(n_cells, 'cell')} ({n_cells / (n_rows * len(codes)):.1%}) of the columns used "
            f"{'has' if n_cells == 1 else 'have'} no value, in "
            f"{_listed(kind.name for kind in holes)}; a missing cell counts as the mean of its "
            "column."
        )
    logs = [code.name for code in codes if getattr(code, "logs", False)]
    if logs:
        notes.append(f"Compared by logarithms, being counts with a long tail: {_listed(logs)}.")
    return [*notes, "Every column counts the same, whatever its unit."]


def _told(kinds: Sequence[ColumnKind]) -> list[str]:
    return [f"{kind.name!r} {kind.reason}" for kind in kinds if not kind.is_used]


def _listed(names: Any) -> str:
    given = [repr(name) for name in names]
    more = len(given) - _MOST_NAMES
    return ", ".join(given[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
