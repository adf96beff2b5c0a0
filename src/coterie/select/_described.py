"""Tables of any columns as described ones: numbers, or categories with their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import (
    DAY,
    Codes,
    Column,
    codes,
    column_names,
    columns_of,
    finite_numbers,
    missing_cells,
    sorts_of,
    values_met,
)

Floats = npt.NDArray[np.float64]

#: Levels of a category that are told apart: the most frequent ones.
_MOST_LEVELS = 20
#: Numbers with more digits than are told are written in full below this, in powers above.
_PLAIN_BELOW = 1e9
_NUMBERS = {"number", "time", "numpy time", "numpy duration"}


@dataclass(frozen=True)
class Numbers:
    """A numeric column, NaN where it is missing; of `moments`, days since 1970.

    `unit` is told behind each value.
    """

    name: str
    values: Floats
    moments: bool = False
    digits: int = 4
    unit: str = ""

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        return np.isnan(self.values)

    def tell(self, value: float) -> str:
        """A value of this column in words."""
        if self.moments and np.isfinite(value):
            return str(np.datetime64(round(value), "D"))
        told = f"{value:.{self.digits}g}"
        told = f"{value:,.0f}" if "e+" in told and abs(value) < _PLAIN_BELOW else told
        return told + self.unit


@dataclass(frozen=True)
class Categories:
    """A column of categories: the place of each cell among `levels`, or below 0.

    Of a binary column the one level is that whose presence is told: True, 1 or the later one.
    """

    name: str
    codes: Codes
    levels: tuple[Any, ...]
    binary: bool
    missing: npt.NDArray[np.bool_]


Described = Numbers | Categories


def describe_columns(who: str, X: Any, names: Sequence[str] | None = None) -> list[Described]:
    """The columns of a table, in their order; `names` are theirs where X has none."""
    columns = columns_of(X)
    names = names or column_names(X) or [f"x{place}" for place in range(len(columns))]
    if not columns or not len(columns[0]):
        raise ValueError(
            f"{who}: X has shape {np.shape(X)}; pass a table with a row and a column at least."
        )
    return [_describe(who, name, column) for name, column in zip(names, columns, strict=True)]


def _describe(who: str, name: str, column: Column) -> Described:
    sorts = sorts_of(column)
    if not sorts <= _NUMBERS or len(sorts) > 1:
        return _categories(name, column)
    values = finite_numbers(who, f"column {name!r}", column, DAY, "mark the cell as missing")
    if set(values[~np.isnan(values)][:1000].tolist()) <= {0.0, 1.0} and _is_binary(values):
        return _categories(name, values)
    lasts = column.dtype.kind == "m" or "numpy duration" in sorts
    moments = bool(sorts & {"time", "numpy time"}) and not lasts
    return Numbers(name, values, moments, _digits(values), " days" if lasts else "")


def _digits(values: Floats) -> int:
    """How many digits tell values apart: four, and those that all have in common."""
    known = values[~np.isnan(values)]
    if not known.size or known.max() == known.min():
        return 4
    largest = float(np.abs(known).max())
    spread = float((known / largest).max() - (known / largest).min())
    return int(min(17, 4 + max(0, np.floor(-np.log10(spread)))))


def _is_binary(values: Floats) -> bool:
    """Whether a column holds both 0 and 1, and nothing else."""
    known = values[~np.isnan(values)]
    return bool(((known == 0) | (known == 1)).all() and known.min(initial=1) < known.max(initial=0))


def _categories(name: str, column: Column) -> Categories:
    levels = sorted(values_met(column), key=lambda level: (str(type(level)), level))
    coded = codes(column, levels)
    missing = missing_cells(column)
    if len(levels) == 2:
        return Categories(name, _only(coded, [1]), (_plain(levels[1]),), True, missing)
    if len(levels) > _MOST_LEVELS:
        counts = np.bincount(coded[coded >= 0], minlength=len(levels))
        kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_LEVELS])
        coded, levels = _only(coded, kept.tolist()), [levels[place] for place in kept]
    return Categories(name, coded, tuple(_plain(level) for level in levels), False, missing)


def _only(coded: Codes, kept: Sequence[int]) -> Codes:
    """The codes of some levels, numbered anew; -1 for all else."""
    number = np.full(max(int(coded.max(initial=0)), *kept) + 2, -1, dtype=np.int32)
    number[list(kept)] = np.arange(len(kept), dtype=np.int32)
    return number[np.maximum(coded, -1)]


def _plain(level: Any) -> Any:
    """A level as Python has it; whole floats as whole numbers."""
    level = level.item() if isinstance(level, np.generic) else level
    return int(level) if isinstance(level, float) and level.is_integer() else level


@dataclass(frozen=True)
class Place:
    """What a column of the coded table stands for: a column, or one level of it."""

    column: Described
    level: int | None


def coded_table(columns: Sequence[Described]) -> tuple[Floats, list[Place]]:
    """Numbers as they are, and a column of 0 and 1 for each level; NaN where a cell is missing."""
    parts: list[Floats] = []
    places: list[Place] = []
    for column in columns:
        if isinstance(column, Numbers):
            parts.append(column.values)
            places.append(Place(column, None))
            continue
        for level in range(len(column.levels)):
            parts.append(np.where(column.missing, np.nan, column.codes == level))
            places.append(Place(column, level))
    return np.column_stack(parts) if parts else np.zeros((0, 0)), places


@dataclass(frozen=True)
class Scaled:
    """A coded table about the mean of each column in units of its deviation; NaN where missing."""

    table: Floats
    centers: Floats
    scales: Floats

    def back(self, place: int, value: float) -> float:
        """A number of a column as it was given."""
        return float(self.centers[place] + self.scales[place] * value)


def scale_table(table: Floats) -> Scaled:
    """Columns in units of their deviation; those without one, or without a cell, as zeros."""
    known = ~np.isnan(table)
    counts = np.maximum(known.sum(axis=0), 1)
    largest = np.max(np.abs(table), axis=0, where=known, initial=0.0)
    units = np.where(largest > 0, largest, 1.0)  # so that no sum or square overflows
    centers = np.sum(table / units, axis=0, where=known) / counts
    about = table / units - centers
    spread = np.sqrt(np.sum(np.square(about), axis=0, where=known) / counts)
    flat = spread <= 1e-14
    spread[flat] = 1.0
    about[:, flat & known.all(axis=0)] = 0.0
    about[:, ~known.any(axis=0)] = 0.0
    return Scaled(about / spread, centers * units, spread * units)
