"""Columns found by their names where a model asks for those of its fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.data._delimited import no_column
from coterie.data.opened import open as open_rows
from coterie.data.opened import open_all
from coterie.data.scaling import scaled_as
from coterie.data.source import Source


@dataclass(frozen=True)
class Chosen:
    """The columns at these places of a block: an array, a CSR matrix or a table of any kind."""

    places: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        if hasattr(rows, "column_names"):  # Arrow
            return rows.select(list(self.places))
        if hasattr(rows, "iloc"):
            return rows.iloc[:, list(self.places)]
        return rows[:, list(self.places)]


def by_name(source: Source, names: Sequence[str]) -> Source:
    """The same rows with these columns, in this order; a source without names as it is.

    Raises
    ------
    DataError
        If a column is not there.
    """
    if source.names is None or list(source.names) == list(names):
        return source
    places = _places(str(source), list(source.names), names)
    if source.unscaled is not None and source.scaling is not None:
        scaling = {key: values[places] for key, values in source.scaling.items()}
        return scaled_as(by_name(source.unscaled, names), scaling).weighted(source.weights)
    chosen = source.through(Chosen(tuple(places)), n_cols=len(places))
    chosen.names = tuple(names)
    return chosen


def opened_by_name(rows: Any, names: Sequence[str]) -> Source:
    """What lies elsewhere, a path for example, with these columns; without names as it is.

    No other column is read, so those may hold text.
    """
    source = open_all(rows, names)
    return source if source.names is None else open_rows(rows, columns=list(names))


def frame_by_name(frame: Any, names: Sequence[str]) -> Any:
    """A Dask data frame with these columns, in this order; anything without names as it is."""
    columns = list(getattr(frame, "columns", ()))
    if not columns or not all(isinstance(column, str) for column in columns):
        return frame
    if columns == list(names):
        return frame
    places = _places("the Dask data frame", columns, names)
    return frame[[columns[place] for place in places]]


def _places(who: str, available: list[str], names: Sequence[str]) -> list[int]:
    for name in names:
        if name not in available:
            raise no_column(f"{who} lacks a column of the fit", name, available)
    return np.array([available.index(name) for name in names], dtype=np.intp).tolist()
