"""Rows that must be dense: what is not is refused in a sentence that says what to pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def refuse_not_dense(who: str, X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix, and NumPy's old matrix, in the name of `who`."""
    if sp.issparse(X):
        raise TypeError(
            f"{who}: {name} is a sparse matrix and rows are taken dense; pass {name}.toarray()."
        )
    if isinstance(X, np.matrix):
        raise TypeError(f"{who}: np.matrix is not supported; pass np.asarray({name}).")
