"""Rows on their way into an index, or to ask it: checked, in its precision, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import checked
from coterie.data import Source, elsewhere
from coterie.search._range import check_range, tell_of_lost_digits


def incoming(
    who: str, rows: Any, dtype: np.dtype[Any], n_features: int | None, name: str
) -> Iterator[npt.NDArray[Any]]:
    """Tables of rows in C order, of which there is at least one.

    Parameters
    ----------
    who
        The index that asks.
    rows
        Array, data frame, path, source or Dask collection.
    dtype
        What the index keeps.
    n_features
        Columns that rows must have; None for any.
    name
        What the caller calls them; of "X", which is kept, lost digits are told.
    """
    source = elsewhere(rows)
    for given in [rows] if source is None else _tables(source):
        held = checked(
            who, given, name, dtype=dtype, order="C", ensure_all_finite=True, ensure_min_samples=0
        )
        if n_features is not None and held.shape[1] != n_features:
            raise ValueError(
                f"{who}: the index has rows of {n_features} columns and {name} has "
                f"{held.shape[1]}; pass rows with the same columns."
            )
        check_range(who, given, held, name)
        if name == "X":
            tell_of_lost_digits(who, given, held)
        yield held


def _tables(source: Source) -> Iterator[Any]:
    """The rows of a source; a table without any where it has none."""
    for block in source:
        yield block.rows.toarray() if sp.issparse(block.rows) else block.rows
    if source.n_rows == 0:
        yield np.empty((0, source.n_cols))
