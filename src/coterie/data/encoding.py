"""Mixed columns as numbers of equal weight, for methods that take points.

Every column has a total variance of 1, whatever it holds, so none counts for more because of its
unit or its number of levels. Numbers: z = (x - m) / s. Levels with shares p_l: a place each,
(1[x = l] - p_l) / sqrt(1 - sum p_l^2), so any two different levels are equally far apart; of two
levels this is the distance that standardised 0 and 1 have. A cell that is missing, infinite or of a
level never seen stands at the mean, which is 0 in every place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import DAY, Column, codes, numbers, sorts_of

__all__ = [
    "ColumnCode", "Levels", "Measure", "Steps", "encode", "finite", "learn_levels", "learn_measure",
    "learn_steps",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
_NUMBERS = {"number", "truth", "numpy truth"}


@dataclass(frozen=True)
class Measure:
    """Numbers about `center` in units of `scale`; of `logs`, log(1 + x) takes the place of x."""

    name: str
    center: float
    scale: float
    logs: bool = False

    @property
    def places(self) -> list[str]:
        return [self.name]

    def encode(self, column: Column) -> Floats:
        """A column of one place, 0 where there is no number."""
        values = finite(column)
        return _about(_logs(values) if self.logs else values, self.center, self.scale)


@dataclass(frozen=True)
class Steps:
    """Levels in order, as the numbers 0, 1, ... about `center` in units of `scale`."""

    name: str
    levels: tuple[Any, ...]
    center: float
    scale: float

    @property
    def places(self) -> list[str]:
        return [self.name]

    def encode(self, column: Column) -> Floats:
        """A column of one place, 0 where no level is known."""
        step = codes(column, self.levels)
        return _about(np.where(step >= 0, step, np.nan), self.center, self.scale)


@dataclass(frozen=True)
class Levels:
    """A place for each level, about its share among the known cells."""

    name: str
    levels: tuple[Any, ...]
    shares: tuple[float, ...]

    @property
    def places(self) -> list[str]:
        return [f"{self.name}={level}" for level in self.levels]

    def encode(self, column: Column) -> Floats:
        """As many places as there are levels, 0 in all where no level is known."""
        found, shares = codes(column, self.levels), np.asarray(self.shares)
        places = (found[:, np.newaxis] == np.arange(len(shares))) - shares
        places[found < 0] = 0.0
        return places / np.sqrt(max(1 - np.square(shares).sum(), 1e-12))


ColumnCode = Measure | Steps | Levels


def encode(columns: Sequence[Column], coded: Sequence[ColumnCode]) -> Floats:
    """The rows of a table as points, a column after the other."""
    parts = [
        code.encode(column).reshape(len(column), -1)
        for column, code in zip(columns, coded, strict=True)
    ]
    return np.ascontiguousarray(np.hstack(parts))


def learn_measure(name: str, column: Column, *, logs: bool = False) -> Measure:
    """Mean and deviation of the numbers that are there; huge ones do not overflow."""
    values = finite(column)
    known = _logs(values) if logs else values
    known = known[np.isfinite(known)]
    unit = float(np.abs(known).max(initial=0)) or 1.0
    center = float((known / unit).mean()) if known.size else 0.0
    spread = float(np.sqrt(np.square(known / unit - center).mean())) if known.size else 0.0
    return Measure(name, center * unit, (spread * unit) or 1.0, logs)


def learn_steps(name: str, column: Column, levels: Sequence[Any]) -> Steps:
    """Steps along levels that are in order."""
    step = codes(column, levels)
    known = step[step >= 0]
    center, spread = (float(known.mean()), float(known.std())) if known.size else (0.0, 0.0)
    return Steps(name, tuple(levels), center, spread or 1.0)


def learn_levels(name: str, column: Column, levels: Sequence[Any]) -> Levels:
    """Shares of the levels."""
    found = codes(column, levels)
    counts = np.bincount(found[found >= 0], minlength=len(levels))
    return Levels(name, tuple(levels), tuple((counts / max(1, counts.sum())).tolist()))


def finite(column: Column) -> Floats:
    """A column as float64, durations in days; NaN where it holds no finite number."""
    if not sorts_of(column) <= _NUMBERS and column.dtype.kind != "m":  # a word among them
        column = np.array([_number(cell) for cell in column], dtype=np.float64)
    values = numbers(column, DAY)
    return np.where(np.isfinite(values), values, np.nan)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")


def _logs(values: Floats) -> Floats:
    """log(1 + x), NaN below 0."""
    return np.log1p(np.where(values >= 0, values, np.nan))


def _about(values: Floats, center: float, scale: float) -> Floats:
    with np.errstate(over="ignore"):  # of numbers near the end of float64
        found = values / scale - center / scale
    return np.nan_to_num(found, nan=0.0)
