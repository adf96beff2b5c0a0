"""Numbers as people write them: few digits, no more than they mean."""

from __future__ import annotations

import math


def short(value: float | None, digits: int = 3) -> str:
    """A number in about `digits` digits; whole ones whole, with commas between thousands."""
    if value is None or not math.isfinite(value):
        return "–"
    if value < 0:
        return f"−{short(-value, digits)}"
    if value == int(value) or value >= 10**digits:
        return f"{round(value):,}" if value < 1e15 else f"{value:.3g}"
    if value < 1e-3:
        return f"{value:.{digits - 1}g}"
    decimals = max(digits - 1 - math.floor(math.log10(value)), 0)
    return f"{value:,.{min(decimals, digits)}f}"


def index(value: float | None) -> str:
    """An index between -1 and 1, in two decimals, so that a column of them lines up."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.2f}".replace("-", "−")


def percent(share: float | None) -> str:
    """A share in whole per cent; what is there is not 0, and what lacks something is not 100."""
    if share is None or not math.isfinite(share):
        return "–"
    rounded = f"{100 * share:.0f}"
    if rounded == "0" and share > 0:
        return "< 1%"
    if rounded == "100" and share < 1:
        return "> 99%"
    return f"{rounded}%"


def chance(p_value: float | None) -> str:
    """A p-value; below a thousandth its size says nothing more."""
    if p_value is None:
        return "–"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def after(sentence: str, what: str) -> str:
    """What a sentence says after the words it begins with, where they stand beside it already."""
    return sentence.removeprefix(f"{what}: ")


def with_chance(sentence: str, p_value: float | None) -> str:
    """A sentence with its p-value, unless it tells one itself."""
    told = p_value is None or "p = " in sentence or "p < " in sentence
    return sentence if told else f"{sentence} ({chance(p_value)})"


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 row`, `2 rows`."""
    return f"{short(number)} {one if number == 1 else many or one + 's'}"
