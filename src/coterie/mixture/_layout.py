"""How a table of mixed columns becomes rows of numbers, and drawn numbers cells again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data.columns import DAY, Column, column_words, finite_numbers, first_odd, one_hot
from coterie.mixture._categories import encode, learn_categories
from coterie.mixture._family import Floats
from coterie.mixture._normal import LEAST_VARIANCE, normal_rows

#: Standard deviations whose square, divided by the least variance, many columns can still add up.
_FARTHEST = 1e140


@dataclass(frozen=True)
class Layout:
    """What was learned of the columns: their kinds, and how to encode each.

    `locations` and `scales` standardise the numeric columns; `categories` belong to the others.
    Encoded rows are CSR: 1, z and z^2 of the numeric cells, then the others one-hot.
    """

    kinds: tuple[str, ...]
    locations: Floats
    scales: Floats
    categories: tuple[Column, ...]

    @property
    def numeric(self) -> list[int]:
        """Places of the numeric columns."""
        return [c for c, kind in enumerate(self.kinds) if kind == "numeric"]

    @property
    def others(self) -> list[int]:
        """Places of the columns with categories."""
        return [c for c, kind in enumerate(self.kinds) if kind != "numeric"]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of the columns that have them."""
        return tuple(len(own) for own in self.categories)

    def rows(self, who: str, columns: Sequence[Column], names: Sequence[str] | None = None) -> Any:
        """The encoded rows."""
        parts = []
        if self.numeric:
            values = _numbers(who, columns, self.numeric, names)
            with np.errstate(over="ignore"):  # what is too far is refused
                standardised = (values - self.locations) / self.scales
            self._check_near(who, values, standardised, names)
            parts.append(normal_rows(standardised))
        if self.others:
            remedy = "fit again with rows that have it"
            codes = [
                encode(who, column_words(names, c), columns[c], own, remedy)
                for c, own in zip(self.others, self.categories, strict=True)
            ]
            parts.append(one_hot(codes, self.sizes))
        return sp.hstack(parts, format="csr")

    def _check_near(
        self, who: str, values: Floats, standardised: Floats, names: Sequence[str] | None
    ) -> None:
        """Refuse numbers so far from those of the fit that no density can be told."""
        found = first_odd(standardised, lambda z: np.abs(z) > _FARTHEST)
        if found is not None:
            column = column_words(names, self.numeric[found.column])
            raise ValueError(
                f"{who}: row {found.row}, {column} is {values[found.row, found.column]:g}, more "
                f"than {_FARTHEST:g} standard deviations away from the rows of the fit, so that "
                "its density is lost in float64; mark the cell as missing (NaN), or leave the row "
                "out."
            )

    def coordinates(self, rows: Any) -> Any:
        """What of the encoded rows tells distances: z, and the one-hot places. Missing is zero."""
        p = len(self.numeric)
        return rows[:, np.r_[p : 2 * p, 3 * p : rows.shape[1]]]

    def cells(self, drawn: Floats) -> npt.NDArray[Any]:
        """A table of what a product family drew: z, then codes."""
        p = len(self.numeric)
        numbers = drawn[:, :p] * self.scales + self.locations
        table = np.empty((len(drawn), len(self.kinds)), dtype=object if self.others else np.float64)
        table[:, self.numeric] = numbers
        for c, own, codes in zip(self.others, self.categories, drawn[:, p:].T, strict=True):
            table[:, c] = own[codes.astype(np.intp)]
        return table


def learn_layout(
    who: str,
    kinds: Sequence[str],
    columns: Sequence[Column],
    names: Sequence[str] | None = None,
) -> Layout:
    """Look at the columns once: mean and spread of the numeric ones, categories of the others."""
    numeric = [c for c, kind in enumerate(kinds) if kind == "numeric"]
    locations, scales = np.zeros(0), np.ones(0)
    if numeric:
        words = [column_words(names, c) for c in numeric]
        locations, scales = _standards(who, _numbers(who, columns, numeric, names), words)
    categories = [
        _binary_categories(who, column_words(names, c), columns[c])
        if kind == "binary"
        else learn_categories(who, column_words(names, c), columns[c])
        for c, kind in enumerate(kinds)
        if kind != "numeric"
    ]
    return Layout(tuple(kinds), locations, scales, tuple(categories))


def _numbers(
    who: str, columns: Sequence[Column], numeric: Sequence[int], names: Sequence[str] | None
) -> Floats:
    """The numeric columns; dates in days."""
    remedy = "call it categorical in kinds="
    return np.column_stack(
        [finite_numbers(who, column_words(names, c), columns[c], DAY, remedy) for c in numeric]
    )


def _standards(who: str, values: Floats, words: Sequence[str]) -> tuple[Floats, Floats]:
    """Mean and deviation of every column over the cells that are there."""
    known = ~np.isnan(values)
    if not known.any(axis=0).all():
        empty = words[int(np.argmin(known.any(axis=0)))]
        raise ValueError(
            f"{who}: {empty} has no value at all, so it tells nothing; leave it out of X."
        )
    # About some value of the column, and in units of its reach: offsets and scales cost no digits.
    origin = np.take_along_axis(values, known.argmax(axis=0)[np.newaxis], axis=0)[0]
    with np.errstate(over="ignore"):
        away = values - origin
        reach = np.nanmax(np.abs(away), axis=0)
        far = np.isinf(np.square(reach))
    if far.any():
        raise ValueError(
            f"{who}: {words[int(np.argmax(far))]} has values so large that their squares overflow "
            "float64; divide the column by a constant, such as its largest absolute value."
        )
    unit = np.where(reach > 0, reach, 1.0)
    locations = origin + np.nanmean(away / unit, axis=0) * unit
    scales = np.nanstd(away / unit, axis=0) * unit
    # A constant column has no scale of its own; rounding may leave a little.
    least = np.finfo(np.float64).eps * np.abs(locations)
    scales = np.where(scales > least, scales, 1.0)
    small = np.square(scales) * LEAST_VARIANCE < np.finfo(np.float64).tiny
    if small.any():
        raise ValueError(
            f"{who}: {words[int(np.argmax(small))]} has a standard deviation of "
            f"{scales[small][0]:.3g}, whose square is lost in float64; multiply the column by a "
            "constant, or leave it out."
        )
    return locations, scales


def _binary_categories(who: str, name: str, column: Column) -> Column:
    """The two categories of a binary column; those of truth values and of 0 and 1 are known."""
    found = learn_categories(who, name, column)
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
