"""Rows on their way into an index, or to ask it: checked, in its precision, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from coterie._complaints import advising
from coterie._doors import refuse_lazy, unmasked
from coterie.data import Source, elsewhere, is_dask, is_elsewhere
from coterie.data.by_name import by_name, frame_by_name, opened_by_name
from coterie.quantize._dense_rows import refuse_not_dense
from coterie.search._range import check_range, refuse_too_large, tell_of_lost_digits


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
    source, told = elsewhere(rows), False
    for part in [_Part(rows)] if source is None else _parts(source):
        held = _held(who, part, dtype, name)
        if n_features is not None and held.shape[1] != n_features:
            raise ValueError(
                f"{who}: the index has rows of {n_features} columns and {name} has "
                f"{held.shape[1]}; pass rows with the same columns."
            )
        check_range(who, part.rows, held, name, part.start)
        if name == "X" and not told:
            told = tell_of_lost_digits(who, part.rows, held)
        yield held


class _Part(NamedTuple):
    """Rows, the number of the first, and names of columns where the rows do not know them."""

    rows: Any
    start: int = 0
    names: Sequence[str] | None = None


def _held(who: str, part: _Part, dtype: np.dtype[Any], name: str) -> npt.NDArray[Any]:
    """A table in the precision of the index."""
    rows = part.rows
    if isinstance(rows, Iterator):
        each = "add(batch)" if name == "X" else "search(batch, k)"
        raise ValueError(
            f"{who}: {name} is a {type(rows).__name__}, which gives its rows once; take it in "
            f"batches, with {each} for each, or pass all rows in one array."
        )
    refuse_lazy(who, rows, name)
    refuse_not_dense(who, rows, name)
    rows = unmasked(who, rows, name)
    try:
        with advising(who, rows, part.names, name, start=part.start):
            held: npt.NDArray[Any] = check_array(
                rows, input_name=name, estimator=who, dtype=dtype, order="C",
                ensure_all_finite=True, ensure_min_samples=0,
            )  # fmt: skip
    except ValueError:
        if dtype == np.float32:  # which may be what made a value infinite
            refuse_too_large(who, rows, name, part.names, part.start)
        raise
    return held


def as_opened(rows: Any) -> Any:
    """Rows that are named, or held by Dask, as a source; any others as they are."""
    source = elsewhere(rows)
    return rows if source is None else source


def names_of(rows: Any) -> list[str] | None:
    """The names of the columns, where all have one."""
    if isinstance(rows, Source):
        given = rows.names
    else:
        given = getattr(rows, "column_names", getattr(rows, "columns", None))
    names = [] if given is None else list(given)
    return names if names and all(isinstance(name, str) for name in names) else None


def with_columns(who: str, rows: Any, names: Sequence[str], name: str) -> Any:
    """Rows whose columns are those of the index, as the estimators have it.

    Of files, sources and Dask data frames columns are found by name; those of a data frame must be
    the same in the same order. What has no names is taken as it is.
    """
    if is_dask(rows):
        return frame_by_name(rows, names)
    if isinstance(rows, Source):
        return by_name(rows, names)
    if is_elsewhere(rows):
        return opened_by_name(rows, names)
    for column, (held, found) in enumerate(zip(names, names_of(rows) or (), strict=False)):
        if held != found:
            raise ValueError(
                f"{who}: column {column} of {name} is {found!r} and that of the index {held!r}; "
                "pass the same columns in the same order."
            )
    return rows


def _parts(source: Source) -> Iterator[_Part]:
    """The rows of a source; a table without any where it has none."""
    for block in source:
        rows = block.rows.toarray() if sp.issparse(block.rows) else block.rows
        yield _Part(rows, block.start, source.names)
    if source.n_rows == 0:
        yield _Part(np.empty((0, source.n_cols)))
