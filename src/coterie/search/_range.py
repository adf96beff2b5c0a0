"""Rows whose values an index cannot hold, or not tell apart: refused, or told of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import column_names, first_odd
from coterie.errors import AdviceWarning

#: Lengths whose squares, and products of these, float64 holds; values whose squares it holds.
_LONGEST, _SMALLEST = 1e70, 1e-150
#: Columns whose spread float32 keeps with less than two digits are told of.
_LOST = 0.01
#: Rows by which columns are suspected of it; those that are, are looked at whole.
_SAMPLE = 1 << 11


def check_range(who: str, given: Any, held: npt.NDArray[Any], name: str, start: int = 0) -> None:
    """Refuse rows that are too long, or vanish though they are not zero; O(n d) time.

    Parameters
    ----------
    given
        Rows as they were passed.
    held
        The same in the precision of the index.
    name
        What the caller calls them.
    start
        The number of the first row.
    """
    lengths = np.einsum("ij,ij->i", held, held)  # squared
    if held.dtype == np.float64 and lengths.max(initial=0) > _LONGEST**2:
        longest = int(np.argmax(lengths))
        raise ValueError(
            f"{who}: {name} has rows longer than {_LONGEST:.0e} (the longest is row "
            f"{start + longest}, with values up to {np.abs(held[longest]).max():.3g}), so that "
            "products of squared distances overflow float64; divide rows and queries by a constant."
        )
    suspects = np.flatnonzero(lengths < np.finfo(held.dtype).tiny)  # zeros among them
    if suspects.size:
        narrow = held.dtype == np.float32 and getattr(given, "dtype", None) != np.float32
        least = float(np.finfo(np.float32).tiny) if narrow else _SMALLEST
        _refuse_vanished(who, _wide(given, suspects), start + suspects, least, name)


def refuse_too_large(
    who: str, given: Any, name: str, names: Sequence[str] | None, start: int
) -> None:
    """Refuse rows that float32 cannot hold, naming the first such cell; others pass.

    Parameters
    ----------
    names
        Of the columns, where the rows do not know them.
    start
        The number of the first row.
    """
    try:
        wide = np.asarray(given)
        if np.iscomplexobj(wide):
            return  # which is refused for itself, not for its size
        wide = wide.astype(np.float64)
    except (TypeError, ValueError):
        return
    if wide.ndim != 2 or not wide.size:
        return
    most = float(np.finfo(np.float32).max)
    found = first_odd(wide, lambda cells: np.abs(cells) > most)
    if found is None or not np.isfinite(found.value):
        return
    names = column_names(given) if names is None else names
    raise ValueError(
        f"{who}: {name} holds {found.value:.6g} in column {found.column_words(names)} (row "
        f"{start + found.row}), which is infinity in float32; scale the column down, or make "
        'the index with dtype="float64".'
    )


def tell_of_lost_digits(who: str, given: Any, held: npt.NDArray[Any]) -> bool:
    """Warn of columns so far from zero that float32 keeps little of how rows differ in them.

    Returns whether there were some.
    """
    if held.dtype != np.float32 or getattr(given, "dtype", None) == np.float32 or len(held) < 2:
        return False
    some = held[:: max(1, len(held) // _SAMPLE)]
    low, high = some.min(axis=0).astype(np.float64), some.max(axis=0).astype(np.float64)
    step = np.maximum(-low, high) * 2.0**-24
    suspects = np.flatnonzero(step > _LOST * (high - low))  # constant columns among them
    if not suspects.size:
        return False
    spread = np.ptp(_wide(given, slice(None))[:, suspects], axis=0)
    n_lost = int(np.count_nonzero((spread > 0) & (step[suspects] > _LOST * spread)))
    if n_lost:
        warnings.warn(
            f"{who}: {n_lost} columns are so far from zero, beside their spread, that float32 "
            "keeps little of it; subtract the means of the columns from rows and queries, or make "
            'the index with dtype="float64".',
            AdviceWarning,
            stacklevel=4,
        )
    return n_lost > 0


def _refuse_vanished(
    who: str, rows: npt.NDArray[np.float64], numbers: npt.NDArray[np.intp], least: float, name: str
) -> None:
    sizes = np.abs(rows).max(axis=1)
    lost = (sizes > 0) & (sizes < least)
    if lost.any():
        advice = "multiply rows and queries by a constant"
        if sizes[lost].min() >= _SMALLEST:
            advice = f'{advice}, or make the index with dtype="float64"'
        raise ValueError(
            f"{who}: {np.count_nonzero(lost)} rows of {name}, the first of them row "
            f"{numbers[lost][0]}, have values so small (at most {sizes[lost].max():.3g}) that "
            f"they, or their squares, vanish; {advice}."
        )


def _wide(given: Any, rows: Any) -> npt.NDArray[np.float64]:
    """Some rows as they were passed, in float64."""
    return np.asarray(np.asarray(given)[rows], dtype=np.float64)
