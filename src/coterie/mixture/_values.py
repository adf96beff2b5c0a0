"""Rows that hold only some kinds of numbers: refused, naming the first cell that is another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

#: Numbers looked at in one go.
_TILE_NUMBERS = 1 << 18


def check_finite(who: str, rows: Any, *, allow_nan: bool) -> None:
    """Refuse infinity and, unless allowed, NaN."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            assert_all_finite(rows, allow_nan=allow_nan)
        return
    except ValueError:
        found = first_odd(rows, np.isinf if allow_nan else lambda values: ~np.isfinite(values))
    assert found is not None
    value, where = found
    if np.isnan(value):
        raise ValueError(
            f"{who}: X contains NaN, first in {where}; leave such rows out, or use "
            "GaussianMixture, CategoricalMixture or MixedMixture, which know missing values."
        )
    raise ValueError(
        f"{who}: X contains infinity, first in {where}; leave such rows out"
        f"{', or mark the cell as missing (NaN)' if allow_nan else ''}."
    )


def check_counts(who: str, rows: Any) -> None:
    """Refuse what is negative or no whole number."""
    found = first_odd(rows, lambda values: (values < 0) | (np.floor(values) != values))
    if found is not None:
        value, where = found
        # The first words are scikit-learn's, which tools look for.
        what = "Negative values in data" if value < 0 else "Fractions in data"
        raise ValueError(
            f"{who}: {what}: X must hold counts, but {where} is {value:g}; count events in whole "
            "numbers, or use GaussianMixture for measurements."
        )


def first_odd(rows: Any, odd: Callable[[Any], Any]) -> tuple[float, str] | None:
    """The first value, row by row, for which `odd` holds, and where it is; None without one."""
    if sp.issparse(rows):
        at = np.flatnonzero(odd(rows.data))
        if not at.size:
            return None
        row = int(np.searchsorted(rows.indptr, at[0], side="right")) - 1
        return float(rows.data[at[0]]), f"row {row}, column {int(rows.indices[at[0]])}"
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        mask = odd(rows[start : start + step])
        if mask.any():
            row, column = (int(at) for at in np.argwhere(mask)[0])
            return float(rows[start + row, column]), f"row {start + row}, column {column}"
    return None


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
