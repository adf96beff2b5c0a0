"""The kind of every column of a mixed table: as given, or told by its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.data import Block, Source
from coterie.data.columns import Column, columns_of, missing_cells, place_of, sorts_of

#: What a column may be.
KINDS = ("numeric", "binary", "categorical")
#: Sorts of cells that may be compared with 0 and 1.
_COUNTED = {"number", "truth", "numpy duration"}


@dataclass(frozen=True)
class Sketch:
    """What the cells of a column are: their sorts, how many are known, and whether only 0 and 1."""

    sorts: frozenset[str]
    n_known: int
    bits: bool

    def __add__(self, other: Sketch) -> Sketch:
        return Sketch(
            self.sorts | other.sorts, self.n_known + other.n_known, self.bits and other.bits
        )

    @property
    def kind(self) -> str:
        """Numbers and dates are numeric; truth values, or only 0 and 1, binary; the rest
        categories.
        """
        if self.sorts and self.sorts <= {"truth", "numpy truth"}:
            return "binary"
        if self.sorts and self.sorts <= {"time", "numpy time"}:
            return "numeric"
        if not self.sorts <= _COUNTED:
            return "categorical"
        return "binary" if self.n_known and self.bits else "numeric"


def sketch_of(column: Column) -> Sketch:
    """What the cells of a column are."""
    sorts = frozenset(sorts_of(column))
    known = column[~missing_cells(column)]
    bits = sorts <= _COUNTED and bool(((known == 0) | (known == 1)).all())
    return Sketch(sorts, known.size, bits)


@dataclass(frozen=True)
class Sketches:
    """Sketches of some columns; `+` is that of more rows."""

    columns: tuple[Sketch, ...]

    def __add__(self, other: Sketches) -> Sketches:
        pairs = zip(self.columns, other.columns, strict=True)
        return Sketches(tuple(ours + theirs for ours, theirs in pairs))


def sketch_columns(block: Block, places: Sequence[int]) -> Sketches:
    """Sketches of these columns of a table."""
    columns = columns_of(block.rows)
    return Sketches(tuple(sketch_of(columns[c]) for c in places))


def learn_kinds(who: str, kinds: Any, names: Sequence[str] | None, tables: Source) -> list[str]:
    """The kind of every column: as given, otherwise as its cells tell, by a pass."""
    given = _given_kinds(who, kinds, names, tables.n_cols)
    unknown = [c for c in range(tables.n_cols) if not given.get(c)]
    if unknown:
        found = tables.total(sketch_columns, unknown)
        given.update(zip(unknown, (own.kind for own in found.columns), strict=True))
    return [given[c] for c in range(tables.n_cols)]


def _given_kinds(who: str, kinds: Any, names: Sequence[str] | None, n_cols: int) -> dict[int, Any]:
    """The kinds that were given, by place."""
    given: dict[int, Any] = {}
    if isinstance(kinds, Mapping):
        for key, kind in kinds.items():
            place = place_of(key, names, n_cols)
            if place is None:
                raise ValueError(
                    f"{who}: kinds names the column {key!r}, but X has the columns "
                    f"{f'0 to {n_cols - 1}' if names is None else ', '.join(names)}; use names or "
                    "places of its columns."
                )
            given[place] = kind
    elif not isinstance(kinds, str):
        if len(kinds) != n_cols:
            raise ValueError(
                f"{who}: kinds has {len(kinds)} entries, but X has {n_cols} columns; give one a "
                "column, or a dict of those that differ from what their type says."
            )
        given = dict(enumerate(kinds))
    given = {place: kind for place, kind in given.items() if kind != "auto"}
    unknown = [kind for kind in given.values() if kind not in KINDS]
    if unknown:
        raise ValueError(
            f"{who}: kinds holds {unknown[0]!r}; use one of {', '.join(KINDS)} or auto."
        )
    return given
