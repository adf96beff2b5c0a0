"""Gower's metric for mixed tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import nan_for_masked, refuse_lazy
from coterie.data.columns import (
    MISSING,
    SECOND,
    Column,
    codes,
    column_names,
    column_words,
    columns_of,
    finite_numbers,
    place_of,
    sorts_of,
    values_met,
)
from coterie.distance._metric import Metric

Floats = npt.NDArray[np.float64]
#: For each column of a mixed table the values it takes, or None for numbers.
Categories = Sequence[Sequence[Any] | None]


def gower(
    X: Any,
    who: str,
    *,
    categorical: Any = None,
    categories: Categories | None = None,
    ranges: Any = None,
    weights: Any = None,
) -> Metric:
    """Gower (1971): the mean over columns of |a - b| / range, or of a != b for categories.

    A cell that is missing (NaN, None, NA) leaves its column out for the pair; two rows that share
    no cell are infinitely far apart. In a data frame, columns that hold neither numbers nor times
    are categorical.
    """
    if categories is None:
        categories = _learn_categories(who, X, categorical)
    prepare = partial(_gower_rows, who, categories)
    n_cols = len(categories)
    if ranges is None:
        table = prepare(X)
        missing = np.isnan(table)
        ranges = np.where(missing, -np.inf, table).max(axis=0)
        with np.errstate(over="ignore"):
            ranges = ranges - np.where(missing, np.inf, table).min(axis=0)
        if (ranges == np.inf).any():
            raise ValueError(
                f"{who}: metric='gower' divides by the range of each column, and that of column "
                f"{int(np.argmax(ranges))} overflows float64; divide this column by a constant."
            )
    ranges = np.array(np.broadcast_to(np.asarray(ranges, dtype=np.float64), n_cols))
    # A column without range is compared for equality, which all its cells pass.
    is_category = np.array([values is not None for values in categories])
    ranges[is_category | ~(ranges > 0)] = 0.0
    weights = np.ones(n_cols) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_cols,) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"{who}: weights of metric='gower' must be {n_cols} numbers of zero or more, one per "
            "column and not all zero."
        )
    weights = np.ascontiguousarray(weights)
    learned = {"categories": categories, "ranges": ranges, "weights": weights}
    return Metric("gower", ("gower", 2.0, ranges, weights, 1.0), prepare, learned=learned)


def _learn_categories(who: str, X: Any, categorical: Any) -> Categories:
    """The values that each categorical column takes, in the order they appear in."""
    columns = _gower_columns(who, X)
    chosen = set(_find_columns(who, X, categorical, len(columns)))
    return [
        values_met(column) if place in chosen or not _is_numeric(column) else None
        for place, column in enumerate(columns)
    ]


def _find_columns(who: str, X: Any, categorical: Any, n_cols: int) -> list[int]:
    """The places of columns that were given as a mask, by place or by name."""
    if categorical is None:
        return []
    given = np.ravel(np.asarray(categorical, dtype=object)).tolist()
    if len(given) == n_cols and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        return np.flatnonzero(given).tolist()
    names = list(X.columns) if hasattr(X, "columns") else None
    places = []
    for entry in given:
        place = None if isinstance(entry, bool) else place_of(entry, names, n_cols, -n_cols)
        if place is None:
            raise ValueError(
                f"{who}: categorical={categorical!r} of metric='gower' names the column {entry!r} "
                f"and X has {n_cols} columns; pass their places from 0, their names in a data "
                "frame, or True and False for each."
            )
        places.append(place)
    return places


def _gower_columns(who: str, X: Any, name: str = "X") -> list[Column]:
    refuse_lazy(who, X, name)
    if sp.issparse(X):
        raise ValueError(
            f"{who}: metric='gower' reads columns of several kinds and {name} is a sparse matrix; "
            f"pass {name}.toarray(), or use metric='manhattan'."
        )
    columns = columns_of(nan_for_masked(X, table=True))
    if not columns or not len(columns[0]):
        raise ValueError(
            f"{who}: {name} has shape {np.shape(X)}; pass a table of rows and columns."
        )
    return columns


def _is_numeric(column: Column) -> bool:
    """Numbers or times, missing or not; booleans and everything else are categories."""
    sorts = sorts_of(column)
    return sorts <= {"number"} or sorts <= {"time"}


def _gower_rows(who: str, categories: Categories, X: Any, name: str = "X") -> Floats:
    """Numbers, times in seconds and codes, NaN if missing; a category never seen is unlike all."""
    columns = _gower_columns(who, X, name)
    if len(columns) != len(categories):
        raise ValueError(
            f"{who}: metric='gower' was made for {len(categories)} columns and {name} has "
            f"{len(columns)}."
        )
    names, remedy = column_names(X), "leave such rows out, or call it categorical when fitting"
    out = np.empty((len(columns[0]), len(columns)))
    for j, (column, values) in enumerate(zip(columns, categories, strict=True)):
        if values is None:
            out[:, j] = finite_numbers(who, column_words(names, j), column, SECOND, remedy)
        else:
            coded = codes(column, list(values))
            out[:, j] = np.where(coded == MISSING, np.nan, np.maximum(coded, -1))
    return out
