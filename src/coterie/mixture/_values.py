"""How rows are read: what their cells may hold, others being refused, naming the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from coterie.data import Block, Source
from coterie.data.columns import Cell, column_words, first_odd


class Reading(Protocol):
    """A way to read rows as given: checked, and as a family wants them. Pickles."""

    def __call__(self, block: Block) -> tuple[Block, bool]:
        """A block as the family wants it, and whether cells of it are missing."""
        ...

    def all(self, source: Source) -> tuple[Source, bool]:
        """The same of all rows; the first that is odd is refused before anything else happens."""
        ...


@dataclass(frozen=True)
class Oddities:
    """The first odd cell of each sort (None: there is none), and whether cells are `missing`."""

    missing: bool
    first: tuple[Cell | None, ...]

    def __add__(self, other: Oddities) -> Oddities:
        pairs = zip(self.first, other.first, strict=True)
        first = tuple(theirs if ours is None else ours for ours, theirs in pairs)
        return Oddities(self.missing or other.missing, first)


@dataclass(frozen=True)
class Values:
    """Numbers as they are: infinity is refused and, unless `allow_nan`, NaN."""

    who: str
    names: Sequence[str] | None = None
    allow_nan: bool = False

    def __call__(self, block: Block) -> tuple[Block, bool]:
        found = self.look(block)
        self._refuse(found)
        return block, found.missing

    def all(self, source: Source) -> tuple[Source, bool]:
        found = source.total(self.look)
        self._refuse(found)
        return source, found.missing

    def look(self, block: Block) -> Oddities:
        """What is odd about a block: of all sorts, but others only where all is finite."""
        missing, odd = self._not_finite(block.rows)
        finite = all(cell is None for cell in odd)
        others = self._others(block) if finite else (None,) * self._n_others
        kind = block.rows.dtype.type
        first = tuple(
            cell and Cell(block.start + cell.row, cell.column, kind(cell.value))
            for cell in (*odd, *others)
        )
        return Oddities(missing, first)

    def _not_finite(self, rows: Any) -> tuple[bool, tuple[Cell | None, Cell | None]]:
        """Whether cells are missing, and the first that must not be: NaN, and infinity."""
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(np.sum(rows.data if sp.issparse(rows) else rows)):
                return False, (None, None)  # as nearly always, and one pass has told
        nan = None if self.allow_nan else first_odd(rows, np.isnan)
        infinite = first_odd(rows, np.isinf)
        return infinite is None and self.allow_nan and has_missing(rows), (nan, infinite)

    #: How many more sorts of oddities there are.
    _n_others = 0

    def _others(self, block: Block) -> tuple[Cell | None, ...]:
        return ()

    def _refuse(self, found: Oddities) -> None:
        """Complain of what was found first, if anything was."""
        # The first words are scikit-learn's, which tools look for.
        nan, infinite = found.first[:2]
        if nan is not None:
            raise ValueError(
                f"{self.who}: Input X contains NaN in column {nan.column_words(self.names)} (row "
                f"{nan.row}); leave such rows out, fill the cells, or use GaussianMixture or "
                "MixedMixture, which know missing cells."
            )
        if infinite is not None:
            missing = "mark the cell as missing (NaN)"
            raise ValueError(
                f"{self.who}: Input X contains infinity or a value too large for "
                f"{infinite.value.dtype!r} in column {infinite.column_words(self.names)} (row "
                f"{infinite.row}); leave such rows out, or "
                f"{missing if self.allow_nan else 'scale the column down'}."
            )

    def _where(self, cell: Cell) -> str:
        return f"row {cell.row}, {column_words(self.names, cell.column)}"


@dataclass(frozen=True)
class Counts(Values):
    """Counts: what is negative is refused and, unless `fractions` count, no whole number."""

    fractions: bool = False

    _n_others = 2

    def _others(self, block: Block) -> tuple[Cell | None, ...]:
        negative = first_odd(block.rows, lambda values: values < 0)
        if self.fractions:
            return negative, None
        return negative, first_odd(block.rows, lambda values: np.floor(values) != values)

    def _refuse(self, found: Oddities) -> None:
        super()._refuse(found)
        odd = found.first[2] or found.first[3]
        if odd is not None:
            # The first words are scikit-learn's, which tools look for.
            what = "Negative values in data" if odd.value < 0 else "Fractions in data"
            fractions = "" if odd.value < 0 else ", set fractions=True for averaged counts"
            raise ValueError(
                f"{self.who}: {what}: X must hold counts, but {self._where(odd)} is {odd.value:g}; "
                f"count events in whole numbers{fractions}, or use GaussianMixture for "
                "measurements."
            )


@dataclass(frozen=True)
class Above(Values):
    """Numbers as 1 where they exceed the threshold, else 0."""

    threshold: float = 0.0

    def __call__(self, block: Block) -> tuple[Block, bool]:
        block, missing = super().__call__(block)
        return replace(block, rows=self.binary(block.rows)), missing

    def all(self, source: Source) -> tuple[Source, bool]:
        source, missing = super().all(source)
        return source.through(self.binary), missing

    def binary(self, rows: Any) -> Any:
        """A copy of the rows: 1 where they exceed the threshold, else 0."""
        if not sp.issparse(rows):
            return (rows > self.threshold).astype(rows.dtype)
        if self.threshold < 0:
            raise ValueError(
                f"{self.who}: threshold={self.threshold:g} would turn the zeros of a sparse X into "
                "ones; use a threshold of at least 0, or pass X as a dense array."
            )
        binary = rows.copy()
        binary.data = (rows.data > self.threshold).astype(rows.dtype)
        binary.eliminate_zeros()
        return binary


def has_missing(rows: Any) -> bool:
    """Whether a value is NaN."""
    return bool(np.isnan(np.min(rows)))
