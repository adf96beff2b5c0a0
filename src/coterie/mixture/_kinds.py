"""The kind of every column of a mixed table: as given, or told by its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.data.columns import Column, missing_cells, place_of, sorts_of

#: What a column may be.
KINDS = ("numeric", "binary", "categorical")


def kind_of(column: Column) -> str:
    """Numbers and dates are numeric; truth values, or only 0 and 1, binary; the rest categories."""
    sorts = sorts_of(column)
    if sorts and sorts <= {"truth", "numpy truth"}:
        return "binary"
    if sorts and sorts <= {"time", "numpy time"}:
        return "numeric"
    if not sorts <= {"number", "truth", "numpy duration"}:
        return "categorical"
    known = column[~missing_cells(column)]
    return "binary" if known.size and ((known == 0) | (known == 1)).all() else "numeric"


def resolve_kinds(
    who: str, kinds: Any, names: Sequence[str] | None, columns: Sequence[Column]
) -> list[str]:
    """The kind of every column: as given, otherwise as `kind_of` has it."""
    n_cols = len(columns)
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
    unknown = [kind for kind in given.values() if kind not in KINDS]
    if unknown:
        raise ValueError(f"{who}: kinds holds {unknown[0]!r}; use one of {', '.join(KINDS)}.")
    return [given.get(c) or kind_of(column) for c, column in enumerate(columns)]
