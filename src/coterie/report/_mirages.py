"""What in a table itself may pass for clusters: copies of rows, filler numbers, missing cells."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from coterie.data.columns import Column, missing_cells
from coterie.data.encoding import finite
from coterie.data.raw_table import RawTable
from coterie.report._prepared import Prepared

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: From this share of copies on, so many times as many equal pairs as rounding would give, the rows
#: are copies; columns whose ranks go together like this are one.
_COPIED, _BEYOND_CHANCE, _THE_SAME = 0.5, 10.0, 0.99
#: Numbers by which people say that there is none.
_FILLER = re.compile(r"-?9+")
#: Cells so many times the middle half of a column away hide what the others are like, where they
#: are at most this share.
_TOO_FAR, _FEW = 1e4, 0.01
#: A cluster is one of missing cells from this share on, if not more of all rows lack them.
_LACKING, _LACKING_ANYWAY = 0.9, 0.6


def copies(ready: Prepared, points: Floats) -> npt.NDArray[np.bool_]:
    """Which rows repeat one before, if far more than values that are rounded would by chance.

    Chance is that of two rows to be equal if columns of numbers had nothing to do with each other.
    Rows of levels repeat anyway, and of one column nobody can tell; none of these count as copies.
    O(n d log n).
    """
    first = np.unique(points, axis=0, return_index=True)[1]
    repeated = np.ones(len(points), dtype=bool)
    repeated[first] = False
    none = np.zeros(len(points), dtype=bool)
    places = [span.start for kind, span in zip(ready.used, ready.spans, strict=True)
              if not kind.levels]  # fmt: skip
    if repeated.sum() < max(1, _COPIED * len(points)) or len(places) < 2 or len(first) < 2:
        return none
    own = points[:, places]
    own = own[:, own.std(axis=0) > 0]
    if own.shape[1] < 2:
        return none
    steps = np.array([np.unique(column, return_inverse=True)[1] for column in own.T])
    alike = np.triu(np.abs(np.corrcoef(steps)), 1) > _THE_SAME
    own = own[:, ~alike.any(axis=0)]
    if own.shape[1] < 2:
        return none
    by_chance = sum(np.log(_equal_pairs(column[:, None])) for column in own.T)
    beyond = float(np.log(_equal_pairs(own)) - by_chance)
    return repeated if beyond > np.log(_BEYOND_CHANCE) else none


def _equal_pairs(rows: Floats) -> float:
    """The share of all pairs of rows that are equal."""
    counts = np.unique(rows, axis=0, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1)).sum() / (len(rows) * (len(rows) - 1)))


def fillers(ready: Prepared, table: RawTable) -> list[tuple[str, float, int]]:
    """Columns with a number such as -999, repeated and far from all others: name, number, rows."""
    found = []
    for kind in ready.used:
        if kind.kind in ("numeric", "count"):
            value, n_rows = _filler(table[kind.name])
            if n_rows:
                found.append((kind.name, value, n_rows))
    return found


def _filler(column: Column) -> tuple[float, int]:
    """The filler of a column and how many rows have it; 0 rows without one."""
    values, counts = np.unique(finite(column), return_counts=True)
    values, counts = values[np.isfinite(values)], counts[np.isfinite(values)]
    if values.size < 4:
        return np.nan, 0
    ends = ((values[0], counts[0], values[1:]), (values[-1], counts[-1], values[:-1]))
    for value, n_rows, rest in ends:
        low, high = rest[0] / 2, rest[-1] / 2  # halves, since the whole may be too large a number
        gap = max(low - value / 2, value / 2 - high)
        if n_rows > 1 and gap > high - low and _FILLER.fullmatch(f"{value:.0f}"):
            return float(value), int(n_rows)
    return np.nan, 0


def far_cells(ready: Prepared, table: RawTable) -> list[tuple[str, float, int]]:
    """Columns whose spread is that of a few cells: name, the farthest number, how many cells."""
    found = []
    for kind in ready.used:
        if kind.kind not in ("numeric", "count"):
            continue
        values = finite(table[kind.name])
        values = values[np.isfinite(values)]
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]) if values.size else np.zeros(3)
        with np.errstate(over="ignore"):
            away = np.abs(values / _TOO_FAR - middle / _TOO_FAR)
        far = away > high - low
        if high > low and 0 < far.sum() <= max(1, _FEW * values.size):
            found.append((kind.name, float(values[away.argmax()]), int(far.sum())))
    return found


def clusters_of_gaps(ready: Prepared, table: RawTable, labels: Labels) -> list[tuple[str, Labels]]:
    """Columns whose missing cells are what some clusters have in common, with these clusters."""
    found = []
    sizes = np.bincount(labels)
    for kind in ready.used:
        if not kind.n_missing or kind.n_missing > _LACKING_ANYWAY * len(labels):
            continue
        missing = missing_cells(table[kind.name])
        lacking = np.bincount(labels[missing], minlength=len(sizes))
        hit = np.flatnonzero((sizes > 0) & (lacking >= _LACKING * sizes))
        if hit.size:
            found.append((kind.name, hit))
    return found
