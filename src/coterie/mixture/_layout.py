"""How a table of mixed columns becomes rows of numbers, and drawn numbers cells again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.data import Block, Source
from coterie.data.columns import (
    DAY,
    Column,
    column_words,
    columns_of,
    finite_numbers,
    first_odd,
    one_hot,
)
from coterie.mixture._categories import encode
from coterie.mixture._family import Floats
from coterie.mixture._normal import normal_rows

#: Standard deviations whose square, divided by the least variance, many columns can still add up.
_FARTHEST = 1e140
#: What to do about a cell of a numeric column that is no number.
NO_NUMBER = "call it categorical in kinds="


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

    @property
    def n_places(self) -> int:
        """Columns of the encoded rows."""
        return 3 * len(self.numeric) + sum(self.sizes)

    @property
    def n_coordinates(self) -> int:
        """How many `coordinates` there are."""
        return len(self.numeric) + sum(self.sizes)

    def rows(
        self,
        who: str,
        columns: Sequence[Column],
        names: Sequence[str] | None = None,
        remedy: str = "fit again with rows that have it",
        start: int = 0,
    ) -> Any:
        """The encoded rows; `start` is the number of the first, `remedy` what to do about a
        category that is not known.
        """
        parts = []
        if self.numeric:
            values = _numbers(who, columns, self.numeric, names, start)
            with np.errstate(over="ignore"):  # what is too far is refused
                standardised = (values - self.locations) / self.scales
            self._check_near(who, values, standardised, names, start)
            parts.append(normal_rows(standardised))
        if self.others:
            codes = [
                encode(who, column_words(names, c), columns[c], own, remedy)
                for c, own in zip(self.others, self.categories, strict=True)
            ]
            parts.append(one_hot(codes, self.sizes))
        return parts[0] if len(parts) == 1 else sp.hstack(parts, format="csr")

    def _check_near(
        self,
        who: str,
        values: Floats,
        standardised: Floats,
        names: Sequence[str] | None,
        start: int,
    ) -> None:
        """Refuse numbers so far from those of the fit that no density can be told."""
        found = first_odd(standardised, lambda z: np.abs(z) > _FARTHEST)
        if found is not None:
            column = column_words(names, self.numeric[found.column])
            raise ValueError(
                f"{who}: row {start + found.row}, {column} is "
                f"{values[found.row, found.column]:g}, more than {_FARTHEST:g} standard deviations "
                "away from the rows of the fit, so that its density is lost in float64; mark the "
                "cell as missing (NaN), or leave the row out."
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


def categories_alone(categories: Sequence[Column]) -> Layout:
    """The layout of a table whose columns all have categories."""
    kinds = ("categorical",) * len(categories)
    return Layout(kinds, np.zeros(0), np.ones(0), tuple(categories))


@dataclass(frozen=True)
class Encoding:
    """Tables read as encoded rows."""

    who: str
    names: Sequence[str] | None
    layout: Layout
    remedy: str = "fit again with rows that have it"

    # A missing cell has no place in its row, which so has no holes.
    def __call__(self, block: Block) -> tuple[Block, bool]:
        return replace(block, rows=self.encode(block.rows, block.start)), False

    def all(self, source: Source) -> tuple[Source, bool]:
        n_places = self.layout.n_places
        return source.through(self.encode, n_cols=n_places, sparse=True, dtype=np.float64), False

    def encode(self, table: Any, start: int = 0) -> Any:
        """The encoded rows of a table, CSR."""
        return self.layout.rows(self.who, columns_of(table), self.names, self.remedy, start)


def _numbers(
    who: str,
    columns: Sequence[Column],
    numeric: Sequence[int],
    names: Sequence[str] | None,
    start: int,
) -> Floats:
    """The numeric columns; dates in days."""
    values = [
        finite_numbers(who, column_words(names, c), columns[c], DAY, NO_NUMBER, start)
        for c in numeric
    ]
    return np.column_stack(values)
