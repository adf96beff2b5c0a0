"""What the cells of X may hold: others are refused, naming the first and where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

#: Numbers looked at in one go.
_TILE_NUMBERS = 1 << 18


def column_words(names: Sequence[str] | None, column: int) -> str:
    """What to call a column: its name where there is one."""
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def unmasked(who: str, X: Any, *, allow_nan: bool, table: bool = False) -> Any:
    """A masked array with missing cells where the mask is: NaN, in a `table` None.

    Refused where missing cells are not known; other arrays are returned as they are.
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    hidden: Any = np.ma.getmaskarray(X)
    n_masked = int(np.count_nonzero(hidden))
    if n_masked == 0:
        return X.data
    if not allow_nan:
        raise ValueError(
            f"{who}: X is a masked array with {n_masked} masked cells, and missing values are not "
            "known here; fill them (X.filled(value)), leave such rows out, or use GaussianMixture, "
            "CategoricalMixture or MixedMixture."
        )
    if table and X.dtype.kind != "f":
        cells = X.data.astype(object)
        cells[hidden] = None
        return cells
    floats = np.array(X.data, dtype=X.dtype if X.dtype.kind == "f" else np.float64)
    floats[hidden] = np.nan
    return floats


def check_finite(
    who: str, rows: Any, *, allow_nan: bool, names: Sequence[str] | None = None
) -> None:
    """Refuse infinity and, unless allowed, NaN."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            assert_all_finite(rows, allow_nan=allow_nan)
        return
    except ValueError:
        odd = np.isinf if allow_nan else lambda values: ~np.isfinite(values)
        found = first_odd(rows, odd, names)
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


def check_counts(
    who: str, rows: Any, *, fractions: bool = False, names: Sequence[str] | None = None
) -> None:
    """Refuse what is negative or, unless `fractions` count, no whole number."""
    found = first_odd(rows, lambda values: values < 0, names)
    if found is None and not fractions:
        found = first_odd(rows, lambda values: np.floor(values) != values, names)
    if found is not None:
        value, where = found
        # The first words are scikit-learn's, which tools look for.
        what = "Negative values in data" if value < 0 else "Fractions in data"
        raise ValueError(
            f"{who}: {what}: X must hold counts, but {where} is {value:g}; count events in whole "
            f"numbers{'' if value < 0 else ', set fractions=True for averaged counts'}, or use "
            "GaussianMixture for measurements."
        )


def first_odd(
    rows: Any, odd: Callable[[Any], Any], names: Sequence[str] | None = None
) -> tuple[float, str] | None:
    """The first value, row by row, for which `odd` holds, and where it is; None without one."""
    if sp.issparse(rows):
        at = np.flatnonzero(odd(rows.data))
        if not at.size:
            return None
        row = int(np.searchsorted(rows.indptr, at[0], side="right")) - 1
        return float(rows.data[at[0]]), f"row {row}, {column_words(names, rows.indices[at[0]])}"
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        mask = odd(rows[start : start + step])
        if mask.any():
            row, column = (int(at) for at in np.argwhere(mask)[0])
            where = f"row {start + row}, {column_words(names, column)}"
            return float(rows[start + row, column]), where
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
