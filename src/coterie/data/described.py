"""What the columns of a table hold, found in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["ColumnFacts", "TableFacts", "describe"]

#: Different words that are counted; of more there is no telling.
_MOST_WORDS = 10_000


@dataclass
class ColumnFacts:
    """What a column holds.

    `kind` is "number", "whole number", "truth", "time", "text" or "empty"; `n_missing` cells are
    missing. Of numbers and times there are `least` and `largest`, of numbers the `mean`, of text
    and truths how often each value stands there (`counts`; empty where there are too many).
    """

    name: str
    type: str
    kind: str = "empty"
    n_missing: int = 0
    least: Any = None
    largest: Any = None
    mean: float | None = None
    counts: Counter[str] = field(default_factory=Counter)
    n_known: int = 0
    many: bool = False

    @property
    def n_distinct(self) -> int | None:
        """How many values there are of text and truths; None where they were not counted."""
        return None if self.many or not self.counts else len(self.counts)


@dataclass(frozen=True)
class TableFacts:
    """How many rows a table has, and what its columns hold."""

    n_rows: int
    columns: list[ColumnFacts]


def describe(schema: Any, tables: Iterable[Any]) -> TableFacts:
    """Facts about all columns of Arrow tables of one schema; memory for one table at a time."""
    columns = [ColumnFacts(field.name, str(field.type)) for field in schema]
    n_rows = 0
    for table in tables:
        n_rows += table.num_rows
        for place, facts in enumerate(columns):
            _add(facts, table.column(place))
    return TableFacts(n_rows, columns)


def _add(facts: ColumnFacts, column: Any) -> None:
    """Let a column of one more table count."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if types.is_decimal(column.type):
        column = column.cast(pa.float64())
    n_known = len(column) - column.null_count
    facts.n_missing += column.null_count
    if not n_known:
        return
    if types.is_integer(column.type) or types.is_floating(column.type):
        _add_numbers(facts, column.drop_null().to_numpy())
    elif types.is_temporal(column.type):
        facts.kind = "time"
        _add_range(facts, *(end.as_py() for end in pc.min_max(column).values()))
    elif not facts.many:
        facts.kind = "truth" if types.is_boolean(column.type) else "text"
        for entry in pc.value_counts(column.drop_null()).to_pylist():
            facts.counts[str(entry["values"])] += entry["counts"]
        if len(facts.counts) > _MOST_WORDS:
            facts.counts, facts.many = Counter(), True
    facts.n_known += n_known


def _add_numbers(facts: ColumnFacts, cells: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(cells.sum(dtype=np.float64))
        before = 0.0 if facts.mean is None else facts.mean * facts.n_known
        facts.mean = (before + total) / (facts.n_known + cells.size)
        whole = bool((np.isfinite(cells) & (cells == np.rint(cells))).all())
    if facts.kind in ("empty", "whole number"):
        facts.kind = "whole number" if whole else "number"
    _add_range(facts, cells.min().item(), cells.max().item())


def _add_range(facts: ColumnFacts, least: Any, largest: Any) -> None:
    facts.least = least if facts.least is None else min(facts.least, least)
    facts.largest = largest if facts.largest is None else max(facts.largest, largest)
