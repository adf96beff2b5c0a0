"""The unit sphere, where spherical k-means lives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]


def unit_rows(rows: Any) -> Any:
    """A copy of the rows with length one; a row of zeros has no direction and stays zero.

    Rows are divided by their largest value first, so that no square over- or underflows.
    """
    if sp.issparse(rows):
        entries = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        largest = np.zeros(rows.shape[0], dtype=rows.dtype)
        np.maximum.at(largest, entries, np.abs(rows.data))
        values = rows.data / _or_one(largest)[entries]
        length = np.sqrt(np.bincount(entries, np.square(values), minlength=rows.shape[0]))
        values = (values / _or_one(length)[entries]).astype(rows.dtype)
        return sp.csr_matrix((values, rows.indices, rows.indptr), shape=rows.shape)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / _or_one(largest)
    scaled /= _or_one(np.sqrt(np.einsum("ij,ij->i", scaled, scaled)))[:, np.newaxis]
    return scaled


def on_sphere(centers: Floats, instead: Floats) -> Floats:
    """Centres scaled to length one; a zero centre has no direction and takes that of `instead`.

    So where the rows of a cluster cancel out, its centre stays where it was.
    """
    scaled = np.asarray(unit_rows(centers))
    no_direction = ~scaled.any(axis=1)
    scaled[no_direction] = instead[no_direction]
    return scaled


def start_on_sphere(centers: Floats) -> Floats:
    """Starting centres scaled to length one; those at zero go to the end of the first axis."""
    first_axis = np.zeros_like(centers)
    first_axis[:, 0] = 1.0
    return on_sphere(centers, first_axis)


def _or_one(length: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Lengths to divide by: one for zero, and for what is no length at all."""
    return np.where((length > 0) & np.isfinite(length), length, length.dtype.type(1))
