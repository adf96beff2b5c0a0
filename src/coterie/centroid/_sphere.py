"""The unit sphere, where spherical k-means lives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.preprocessing import normalize

Floats = npt.NDArray[np.float64]


def unit_rows(rows: Any) -> Any:
    """A copy of the rows with length one; a row of zeros has no direction and stays zero."""
    finite = np.isfinite(rows.data if sp.issparse(rows) else rows).all()
    return normalize(rows, copy=True) if finite else rows


def on_sphere(centers: Floats) -> Floats:
    """Centres scaled to length one; a zero centre stays where it is."""
    largest = np.abs(centers).max(axis=1, keepdims=True)
    scaled = np.divide(centers, largest, out=centers.copy(), where=largest > 0)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, length, out=scaled, where=length > 0)
