"""What a sparse matrix must be before anything reads it.

Its index arrays are open to everyone, and compiled code follows them blindly: SciPy's conversions
as well as our kernels. So they are looked at first, by NumPy alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["canonical_csr", "contradiction"]


def contradiction(matrix: Any) -> str | None:
    """What is wrong with the arrays of a sparse matrix of any format, or None. Time O(entries)."""
    try:
        return _LOOKS.get(matrix.format, _trusted)(matrix)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        return f"they cannot be read: {error}"


def canonical_csr(rows: Any) -> Any:
    """Sound CSR rows with sorted columns, none twice, and one type of index; a copy only if needed.

    SciPy remembers whether columns were sorted; here they are looked at, as they may have changed.
    """
    if rows.indices.dtype != rows.indptr.dtype:
        rows = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    used = rows.indices[: rows.indptr[-1]]
    rising = used[1:] > used[:-1]
    starts = rows.indptr[1:-1]
    rising[starts[(starts > 0) & (starts < used.size)] - 1] = True
    if not rising.all():
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _compressed(matrix: Any) -> str | None:
    """CSR and CSC."""
    shape = matrix.shape if len(matrix.shape) == 2 else (1, *matrix.shape)
    n_major, n_minor = shape if matrix.format == "csr" else shape[::-1]
    return _runs(matrix, n_major, n_minor) or _lengths("data", matrix.data, matrix.indices)


def _blocks(matrix: Any) -> str | None:
    """BSR."""
    data = matrix.data
    if not isinstance(data, np.ndarray) or data.ndim != 3 or 0 in data.shape[1:]:
        return "data is no array of blocks"
    sizes = [divmod(n, size) for n, size in zip(matrix.shape, data.shape[1:], strict=True)]
    if any(rest for _, rest in sizes):
        return f"blocks of {data.shape[1:]} do not tile the shape {matrix.shape}"
    found = _runs(matrix, sizes[0][0], sizes[1][0])
    if found is None and len(data) < matrix.indptr[-1]:
        return f"indptr ends at {matrix.indptr[-1]} and there are {len(data)} blocks"
    return found


def _runs(matrix: Any, n_major: int, n_minor: int) -> str | None:
    """Where each row's entries begin, and the columns they are in (rows and columns for CSC)."""
    indptr, indices = matrix.indptr, matrix.indices
    found = _whole("indptr", indptr) or _whole("indices", indices)
    if found is not None:
        return found
    if indptr.size != n_major + 1:
        return f"indptr has {indptr.size} entries, not {n_major + 1}"
    if indptr[0] != 0:
        return f"indptr begins at {indptr[0]}, not at 0"
    if (indptr[1:] < indptr[:-1]).any():
        return "indptr falls"
    if indptr[-1] > indices.size:
        return f"indptr ends at {indptr[-1]} and there are {indices.size} indices"
    return _in_range("indices", indices[: indptr[-1]], n_minor)


def _triplets(matrix: Any) -> str | None:
    """COO."""
    for name, indices, n in zip(
        ("row", "col"), matrix.coords[-2:], matrix.shape[-2:], strict=False
    ):
        found = (
            _whole(name, indices)
            or _lengths(name, indices, matrix.data)
            or _lengths("data", matrix.data, indices)
            or _in_range(name, indices, n)
        )
        if found is not None:
            return found
    return None


def _diagonals(matrix: Any) -> str | None:
    """DIA."""
    found = _whole("offsets", matrix.offsets)
    if found is not None:
        return found
    if matrix.data.ndim != 2 or len(matrix.data) != matrix.offsets.size:
        return f"data has shape {matrix.data.shape} and there are {matrix.offsets.size} offsets"
    n_rows, n_cols = matrix.shape
    if ((matrix.offsets < -n_rows) | (matrix.offsets > n_cols)).any():
        return f"offsets reach beyond the shape {matrix.shape}"
    return None


def _lists(matrix: Any) -> str | None:
    """LIL."""
    n_rows, n_cols = matrix.shape
    if len(matrix.rows) != n_rows or len(matrix.data) != n_rows:
        return f"there are {len(matrix.rows)} lists of columns, not {n_rows}"
    for i, (columns, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(columns) != len(values):
            return f"row {i} has {len(columns)} columns and {len(values)} values"
        if columns and not 0 <= min(columns) <= max(columns) < n_cols:
            return f"row {i} has columns outside 0 to {n_cols - 1}"
    return None


def _trusted(matrix: Any) -> str | None:
    """DOK holds no arrays."""
    return None


_LOOKS = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _blocks,
    "coo": _triplets,
    "dia": _diagonals,
    "lil": _lists,
}


def _whole(name: str, array: Any) -> str | None:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind != "i":
        return f"{name} is no one-dimensional array of whole numbers"
    return None


def _lengths(name: str, array: Any, indices: npt.NDArray[Any]) -> str | None:
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return f"{name} is no one-dimensional array"
    if array.size < indices.size:
        return f"{name} has {array.size} entries, fewer than {indices.size}"
    return None


def _in_range(name: str, indices: npt.NDArray[Any], n: int) -> str | None:
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        outside = indices[(indices < 0) | (indices >= n)][0]
        return f"{name} has {outside}, outside 0 to {n - 1}"
    return None
