"""Rows that are too small for the precision of an index."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def refuse_vanished(who: str, given: Any, held: npt.NDArray[Any], name: str) -> None:
    """Refuse rows with values whose float32 is zero, or next to it, in all columns.

    Parameters
    ----------
    given
        Rows as they were passed.
    held
        The same in the precision of the index.
    """
    if held.dtype != np.float32 or not held.size or getattr(given, "dtype", None) == np.float32:
        return
    tiny = np.finfo(np.float32).tiny
    small = np.flatnonzero(np.maximum(held.max(axis=1), -held.min(axis=1)) < tiny)
    if not small.size:
        return
    rows = given.toarray() if sp.issparse(given) else np.asarray(given)
    sizes = np.abs(rows[small].astype(np.float64)).max(axis=1)
    lost = small[(sizes > 0) & (sizes < tiny)]
    if lost.size:
        raise ValueError(
            f"{who}: {len(lost)} rows of {name}, the first of them row {lost[0]}, have values so "
            f"small (at most {sizes.max():.3g}) that they vanish in float32; make the index with "
            'dtype="float64", or multiply rows and queries by a constant.'
        )
