"""What the cells of X may hold: others are refused, naming the first and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coterie.data.columns import column_words, first_odd


def has_missing(rows: Any) -> bool:
    """Whether a value is NaN."""
    return bool(np.isnan(np.min(rows)))


def check_counts(
    who: str, rows: Any, *, fractions: bool = False, names: Sequence[str] | None = None
) -> None:
    """Refuse what is negative or, unless `fractions` count, no whole number."""
    found = first_odd(rows, lambda values: values < 0)
    if found is None and not fractions:
        found = first_odd(rows, lambda values: np.floor(values) != values)
    if found is not None:
        value, where = found.value, f"row {found.row}, {column_words(names, found.column)}"
        # The first words are scikit-learn's, which tools look for.
        what = "Negative values in data" if value < 0 else "Fractions in data"
        raise ValueError(
            f"{who}: {what}: X must hold counts, but {where} is {value:g}; count events in whole "
            f"numbers{'' if value < 0 else ', set fractions=True for averaged counts'}, or use "
            "GaussianMixture for measurements."
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
