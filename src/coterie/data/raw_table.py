"""A raw table in memory: columns of any type, each under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.array import ArraySource
from coterie.data.columns import Column, column_names, columns_of
from coterie.data.opened import elsewhere
from coterie.data.source import Source
from coterie.errors import DataError

__all__ = ["RawTable", "distinct_names", "raw_table"]


@dataclass(frozen=True)
class RawTable:
    """Columns by name, as data frames have them: `names` differ, `cells` are arrays or `Words`.

    `renamed` says which names were not those of the table.
    """

    names: tuple[str, ...]
    cells: tuple[Column, ...]
    renamed: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names, as a data frame gives them."""
        return list(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.cells[0]) if self.cells else 0), len(self.names)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, name: str) -> Column:
        return self.cells[self.names.index(name)]

    def take(self, rows: npt.NDArray[np.int64]) -> RawTable:
        """Some rows, by number."""
        return RawTable(self.names, tuple(cells[rows] for cells in self.cells))

    def pick(self, names: Sequence[str]) -> RawTable:
        """Some columns, by name."""
        return RawTable(tuple(names), tuple(self[name] for name in names))


def raw_table(X: Any) -> RawTable:
    """A data frame, an Arrow table, an array or a source of rows as a raw table.

    Parameters
    ----------
    X : data frame (pandas, polars), Arrow table, array of shape (n_rows, n_columns) or Source
        One column may come as an array of shape (n_rows,). The columns of an array are called x0,
        x1 and so on; of names that stand twice the later ones get a number.

    Raises
    ------
    DataError
        If it is no table.
    """
    if isinstance(X, RawTable):
        return X
    source = X if isinstance(X, Source) else elsewhere(X)
    if source is not None:
        return _of_source(source)
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise DataError(f"{type(X).__name__} has no rows until it is collected; pass X.collect().")
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):  # one column of pandas or polars
        X = X.to_frame()
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if not (hasattr(X, "columns") or hasattr(X, "toarray")):
        X = np.asarray(X)
        X = X[:, np.newaxis] if X.ndim == 1 else X
    X = X.toarray() if hasattr(X, "toarray") else X  # sparse
    cells = columns_of(X)
    if not cells:
        raise DataError(
            f"the data has shape {np.shape(X)}; give a table with rows and columns: a path, a data "
            "frame or an array."
        )
    names, renamed = distinct_names(column_names(X) or [f"x{at}" for at in range(len(cells))])
    return RawTable(tuple(names), tuple(cells), tuple(renamed))


def _of_source(source: Source) -> RawTable:
    """All rows of a source, in memory."""
    tables = getattr(source, "tables", None)
    source = source if tables is None else tables()
    parts = [raw_table(_copied(block.rows)) for block in source]
    if not parts:
        raise DataError("there are no rows in it; give data with some.")
    if isinstance(source, ArraySource) or source.names is not None:
        given = source.names or parts[0].names
        names = tuple(distinct_names([str(name) for name in given])[0])
    else:
        names = parts[0].names
    cells = [np.concatenate([np.asarray(part.cells[at]) for part in parts])
             for at in range(len(names))]  # fmt: skip
    return RawTable(names, tuple(cells))


def _copied(rows: Any) -> Any:
    """The buffer of a block may be used again."""
    return rows.copy() if isinstance(rows, np.ndarray) else rows


def distinct_names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that differ and are not empty, and a sentence on each that was changed."""
    names: list[str] = []
    said: list[str] = []
    taken = set(given)
    for place, name in enumerate(given):
        new, number = name.strip() or f"column {place + 1}", 2
        if new != name and not name.strip():
            said.append(f"Column {place + 1} has no name and is called {new!r} here.")
        base = new
        while new in names or (new != name and new in taken):
            new, number = f"{base} ({number})", number + 1
        if base != new:
            said.append(f"Several columns are named {base!r}; number {place + 1} is {new!r} here.")
        names.append(new)
    return names, said
