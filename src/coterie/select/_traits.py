"""Traits of a cluster: in which columns, and how much, its rows differ from the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.select._described import Described, Floats, Numbers

Mask = npt.NDArray[np.bool_]

#: Effects below this are not told: small by Cohen's measure.
_LEAST_EFFECT = 0.2


@dataclass(frozen=True)
class Trait:
    """One column in which a cluster differs.

    `inside` and `outside` are means of a number ("mean") and shares of a level ("share") or of
    missing cells ("missing"); `effect` is Cohen's d or h, above 0 where `inside` is larger.
    """

    column: str
    measure: str
    level: Any
    inside: float
    outside: float
    effect: float
    text: str

    def __str__(self) -> str:
        return f"{self.text} (effect {self.effect:+.2f})"


def find_traits(columns: Sequence[Described], inside: Mask) -> tuple[Trait, ...]:
    """All traits of some effect, the largest first, equals in the order of the columns."""
    found = [trait for column in columns for trait in _traits_of(column, inside)]
    kept = [trait for trait in found if abs(trait.effect) >= _LEAST_EFFECT]
    return tuple(sorted(kept, key=lambda trait: -abs(trait.effect)))


def _traits_of(column: Described, inside: Mask) -> Iterator[Trait]:
    known = ~column.missing
    mine, theirs = known & inside, known & ~inside
    if not known.all():
        a, b = (float(column.missing[part].mean()) for part in (inside, ~inside))
        yield Trait(column.name, "missing", None, a, b, cohen_h(a, b),
                    f"{column.name} is missing in {a:.0%} against {b:.0%}")  # fmt: skip
    if not mine.any() or not theirs.any():
        return
    if isinstance(column, Numbers):
        yield _of_numbers(column, column.values[mine], column.values[theirs])
        return
    for code, level in enumerate(column.levels):
        a, b = (float((column.codes[part] == code).mean()) for part in (mine, theirs))
        yield Trait(column.name, "share", level, a, b, cohen_h(a, b),
                    f"{column.name} is {level} in {a:.0%} against {b:.0%}")  # fmt: skip


def _of_numbers(column: Numbers, mine: Floats, theirs: Floats) -> Trait:
    a, b = float(mine.mean()), float(theirs.mean())
    effect = cohen_d(mine, theirs)
    word = "higher" if effect > 0 else "lower"
    text = f"{column.name} is {word}: {column.tell(a)} against {column.tell(b)}"
    return Trait(column.name, "mean", None, a, b, effect, text)


def cohen_d(mine: Floats, theirs: Floats) -> float:
    """The difference of means in units of the pooled deviation, or of that of all without one."""
    unit = max(float(np.abs(mine).max()), float(np.abs(theirs).max()))
    if unit == 0.0:
        return 0.0
    mine, theirs = mine / unit, theirs / unit  # so that no square overflows
    gap = float(mine.mean() - theirs.mean())
    squares = np.square(mine - mine.mean()).sum() + np.square(theirs - theirs.mean()).sum()
    pooled = np.sqrt(squares / max(1, mine.size + theirs.size - 2))
    if pooled <= 1e-14:
        pooled = np.concatenate([mine, theirs]).std()
    return float(gap / pooled) if pooled > 1e-14 else 0.0


def cohen_h(a: float, b: float) -> float:
    """The difference of two shares on the scale on which their noise is the same."""
    return float(2 * np.arcsin(np.sqrt(a)) - 2 * np.arcsin(np.sqrt(b)))
