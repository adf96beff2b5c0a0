"""Tables whose columns are of different kinds: taken apart, told by their kinds, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.mixture._categories import Codes, Column, is_missing

#: Dates that come as objects.
_DATES = (date, np.datetime64)
#: What a column may be.
KINDS = ("numeric", "binary", "categorical")


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns of their own types (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not sp.issparse(X)


def columns_of(X: Any) -> list[Column]:
    """The columns of a table or of a 2-d array."""
    if not is_frame(X):
        return [X[:, c] for c in range(X.shape[1])]
    if hasattr(X, "iloc"):  # pandas, where a name may stand twice
        return [np.asarray(X.iloc[:, c]) for c in range(X.shape[1])]
    return [np.asarray(X[name]) for name in X.columns]


def kind_of(column: Column) -> str:
    """Numbers and dates are numeric; truth values, or only 0 and 1, binary; the rest categories."""
    if column.dtype.kind == "b":
        return "binary"
    if column.dtype.kind in "mM":
        return "numeric"
    if column.dtype.kind == "O":
        known = column[~is_missing(column)].tolist()
        if known and all(isinstance(cell, (bool, np.bool_)) for cell in known):
            return "binary"
        if known and all(isinstance(cell, _DATES) for cell in known):
            return "numeric"
        if not all(isinstance(cell, (int, float, np.number)) for cell in known):
            return "categorical"
        column = np.array(known, dtype=np.float64)
    if column.dtype.kind not in "iuf":
        return "categorical"
    known = column[~is_missing(column)]
    return "binary" if known.size and ((known == 0) | (known == 1)).all() else "numeric"


def resolve_kinds(
    who: str, kinds: Any, names: Sequence[str] | None, columns: Sequence[Column]
) -> list[str]:
    """The kind of every column: as given, otherwise as `kind_of` has it."""
    n_cols = len(columns)
    given: dict[int, Any] = {}
    if isinstance(kinds, Mapping):
        for key, kind in kinds.items():
            place = list(names).index(key) if names is not None and key in names else key
            if not isinstance(place, (int, np.integer)) or not 0 <= place < n_cols:
                raise ValueError(
                    f"{who}: kinds names the column {key!r}, but X has the columns "
                    f"{f'0 to {n_cols - 1}' if names is None else ', '.join(names)}; use names or "
                    "places of its columns."
                )
            given[int(place)] = kind
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


def as_numbers(who: str, name: str, column: Column) -> npt.NDArray[np.float64]:
    """A numeric column as float64 with NaN where it is missing; dates in days since 1970.

    Dates with a time zone are taken as the same moment in UTC; durations are days as well.
    """
    if column.dtype.kind == "O":
        missing = is_missing(column)
        known = column[~missing].tolist()
        if known and all(isinstance(cell, _DATES) for cell in known):
            days = np.full(column.shape, np.nan)
            days[~missing] = _days(np.array([_moment(cell) for cell in known]))
            return days
        column = np.where(missing, np.nan, column)
    if column.dtype.kind in "mM":
        return _days(column)
    try:
        values = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        # The first words are scikit-learn's, which tools look for.
        raise type(error)(
            f"{who}: argument must be a string or a number, and a number where a column is "
            f"numeric, but {name} holds {_first_word(column)!r}; call it categorical in kinds=."
        ) from error
    if np.isinf(values).any():
        raise ValueError(
            f"{who}: {name} contains infinity in row {int(np.argmax(np.isinf(values)))}; mark the "
            "cell as missing (NaN) or leave the row out."
        )
    return values


def _moment(cell: Any) -> Any:
    """A date without its time zone, at the same moment in UTC."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def _days(moments: Column) -> npt.NDArray[np.float64]:
    """Days since 1970 began, or of a duration; NaN where it is missing (NaT)."""
    unit = np.timedelta64(1, "D")
    origin: Any = np.datetime64("1970-01-01") if moments.dtype.kind == "M" else np.timedelta64(0)
    days = (moments - origin) / unit
    return np.where(np.isnat(moments), np.nan, days)


def _first_word(column: Column) -> Any:
    for cell in column.tolist():
        try:
            float(cell)
        except (TypeError, ValueError):
            return cell
    return column[0]


def one_hot(codes: Sequence[Codes], sizes: Sequence[int]) -> Any:
    """A one for the category of every cell, a place each; nothing where it is missing. CSR."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.column_stack(codes)
    known = places >= 0
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    indices = (places + starts)[known].astype(np.int32)
    return sp.csr_matrix(
        (np.ones(indices.size), indices, indptr), shape=(len(places), int(sum(sizes)))
    )
