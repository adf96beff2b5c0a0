"""What passes over a table learn of its columns: mean and spread of numbers, categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coterie.data import Block, Source
from coterie.data.columns import DAY, Column, column_words, columns_of, finite_numbers
from coterie.mixture._categories import categories_in, joined, known_categories
from coterie.mixture._family import Floats
from coterie.mixture._layout import NO_NUMBER, Layout
from coterie.mixture._normal import LEAST_VARIANCE


def learn_layout(
    who: str, kinds: Sequence[str], tables: Source, names: Sequence[str] | None = None
) -> Layout:
    """Look at the columns: mean and spread of the numeric ones, categories of the others.

    One pass over the tables, two where there are numbers.
    """
    words = tuple(column_words(names, c) for c in range(len(kinds)))
    found = tables.total(survey_columns, who, tuple(kinds), words)
    locations, scales = np.zeros(0), np.ones(0)
    if found.numeric:
        unit = found.units(who)
        moments = tables.total(sum_columns, who, words, found.numeric, found.origin, unit)
        locations, scales = moments.standards(who, [words[c] for c in found.numeric])
    categories = []
    for c, own in zip(found.others, found.categories, strict=True):
        own = known_categories(who, words[c], own)
        categories.append(_two_of(who, words[c], own) if kinds[c] == "binary" else own)
    return Layout(tuple(kinds), locations, scales, tuple(categories))


def learn_all_categories(
    who: str, tables: Source, names: Sequence[str] | None = None
) -> list[Column]:
    """The categories of every column, by a pass."""
    kinds = ("categorical",) * tables.n_cols
    return list(learn_layout(who, kinds, tables, names).categories)


@dataclass(frozen=True)
class Survey:
    """What the columns of some rows hold: the first value, the least and the greatest of the
    numeric ones (NaN: none at all), the categories of the others (None: none at all).
    """

    who: str
    kinds: tuple[str, ...]
    words: tuple[str, ...]
    origin: Floats
    low: Floats
    high: Floats
    categories: tuple[Column | None, ...]

    @property
    def numeric(self) -> list[int]:
        """Places of the numeric columns."""
        return [c for c, kind in enumerate(self.kinds) if kind == "numeric"]

    @property
    def others(self) -> list[int]:
        """Places of the columns with categories."""
        return [c for c, kind in enumerate(self.kinds) if kind != "numeric"]

    def __add__(self, other: Survey) -> Survey:
        categories = tuple(
            joined(self.who, self.words[c], ours, theirs)
            for c, ours, theirs in zip(self.others, self.categories, other.categories, strict=True)
        )
        return replace(
            self,
            origin=np.where(np.isnan(self.origin), other.origin, self.origin),
            low=np.fmin(self.low, other.low),
            high=np.fmax(self.high, other.high),
            categories=categories,
        )

    def units(self, who: str) -> Floats:
        """How far the values of each numeric column reach, one where they do not differ."""
        words = [self.words[c] for c in self.numeric]
        if np.isnan(self.origin).any():
            empty = words[int(np.argmax(np.isnan(self.origin)))]
            raise ValueError(
                f"{who}: {empty} has no value at all, so it tells nothing; leave it out of X."
            )
        with np.errstate(over="ignore"):
            reach = np.maximum(np.abs(self.low - self.origin), np.abs(self.high - self.origin))
            far = np.isinf(np.square(reach))
        if far.any():
            raise ValueError(
                f"{who}: {words[int(np.argmax(far))]} has values so large that their squares "
                "overflow float64; divide the column by a constant, such as its largest absolute "
                "value."
            )
        return np.where(reach > 0, reach, 1.0)


def survey_columns(
    block: Block, who: str, kinds: tuple[str, ...], words: tuple[str, ...]
) -> Survey:
    """What the columns of a block hold."""
    columns = columns_of(block.rows)
    origin, low, high = [], [], []
    categories: list[Column | None] = []
    for kind, word, column in zip(kinds, words, columns, strict=True):
        if kind != "numeric":
            categories.append(categories_in(who, word, column))
            continue
        values = finite_numbers(who, word, column, DAY, NO_NUMBER, block.start)
        known = values[~np.isnan(values)]
        origin.append(known[0] if known.size else np.nan)
        low.append(known.min() if known.size else np.nan)
        high.append(known.max() if known.size else np.nan)
    return Survey(
        who, kinds, words, np.array(origin, dtype=np.float64), np.array(low, dtype=np.float64),
        np.array(high, dtype=np.float64), tuple(categories),
    )  # fmt: skip


@dataclass(frozen=True)
class ColumnMoments:
    """How many values numeric columns have, their means and their scatter about these, (p,) each.

    They are about an origin and in a unit, so that offsets and scales cost no digits. `+` is by
    Chan, Golub & LeVeque (1979).
    """

    counts: Floats
    means: Floats
    scatter: Floats
    origin: Floats
    unit: Floats

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, 1.0)
        apart = other.means - self.means
        return replace(
            self,
            counts=counts,
            means=self.means + apart * share,
            scatter=self.scatter + other.scatter + np.square(apart) * self.counts * share,
        )

    def standards(self, who: str, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Mean and deviation of every column over the cells that are there."""
        locations = self.origin + self.means * self.unit
        scales = np.sqrt(self.scatter / self.counts) * self.unit
        # A constant column has no scale of its own; rounding may leave a little.
        least = np.finfo(np.float64).eps * np.abs(locations)
        scales = np.where(scales > least, scales, 1.0)
        small = np.square(scales) * LEAST_VARIANCE < np.finfo(np.float64).tiny
        if small.any():
            raise ValueError(
                f"{who}: {words[int(np.argmax(small))]} has a standard deviation of "
                f"{scales[small][0]:.3g}, whose square is lost in float64; multiply the column by "
                "a constant, or leave it out."
            )
        return locations, scales


def sum_columns(
    block: Block,
    who: str,
    words: tuple[str, ...],
    numeric: Sequence[int],
    origin: Floats,
    unit: Floats,
) -> ColumnMoments:
    """Moments of the numeric columns of a block."""
    columns = columns_of(block.rows)
    values = [finite_numbers(who, words[c], columns[c], DAY, NO_NUMBER) for c in numeric]
    away = (np.column_stack(values) - origin) / unit
    known = ~np.isnan(away)
    counts = known.sum(axis=0).astype(np.float64)
    means = np.where(known, away, 0.0).sum(axis=0) / np.maximum(counts, 1.0)
    scatter = np.square(np.where(known, away - means, 0.0)).sum(axis=0)
    return ColumnMoments(counts, means, scatter, origin, unit)


def _two_of(who: str, name: str, found: Column) -> Column:
    """The two categories of a binary column; those of truth values and of 0 and 1 are known."""
    if len(found) > 2:
        raise ValueError(
            f"{who}: {name} should be binary but has {len(found)} different values; call "
            "it categorical or numeric in kinds=."
        )
    if found.dtype.kind == "b":
        return np.array([False, True])
    if found.dtype.kind in "iuf" and np.isin(found, (0, 1)).all():
        return np.array([0, 1], dtype=found.dtype)
    return found
