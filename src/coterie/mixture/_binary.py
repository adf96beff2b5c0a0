"""Rows of zeros and ones: told from others, or made by a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

#: Numbers looked at in one go.
_TILE_NUMBERS = 1 << 18


def check_binary(who: str, rows: Any) -> None:
    """Refuse values other than 0 and 1, naming the first."""
    if sp.issparse(rows):
        odd = np.flatnonzero(_odd(rows.data))
        if odd.size:
            row = int(np.searchsorted(rows.indptr, odd[0], side="right")) - 1
            raise _not_binary(who, rows.data[odd[0]], row, int(rows.indices[odd[0]]))
        return
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        odd = _odd(rows[start : start + step])
        if odd.any():
            row, column = (int(at) for at in np.argwhere(odd)[0])
            raise _not_binary(who, rows[start + row, column], start + row, column)


def _odd(values: Any) -> Any:
    return values * values != values


def _not_binary(who: str, value: float, row: int, column: int) -> ValueError:
    return ValueError(
        f"{who}: X must hold only 0 and 1, but row {row}, column {column} is {value:g}; set "
        "threshold= to count larger values as 1, or use a mixture for other columns."
    )


def above(who: str, rows: Any, threshold: float) -> Any:
    """A copy of the rows: 1 where they exceed the threshold, else 0."""
    if not sp.issparse(rows):
        return (rows > threshold).astype(rows.dtype)
    if threshold < 0:
        raise ValueError(
            f"{who}: threshold={threshold:g} would turn the zeros of a sparse X into ones; use a "
            "threshold of at least 0, or pass X as a dense array."
        )
    binary = rows.copy()
    binary.data = (rows.data > threshold).astype(rows.dtype)
    binary.eliminate_zeros()
    return binary
