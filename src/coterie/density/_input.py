"""Tables as the density methods take them: sparse ones are checked before anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import check_csr, check_memory


def trusted(who: str, X: Any) -> Any:
    """X as given; a CSR matrix checked, since casts and sums of a damaged one may crash."""
    return check_csr(who, X) if sp.issparse(X) and X.format == "csr" else X


def dense(who: str, rows: Any) -> npt.NDArray[Any]:
    """Rows as an array; refused where sparse rows would not fit in memory so."""
    if not sp.issparse(rows):
        return np.asarray(rows)
    n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
    check_memory(who, n_bytes, "sparse rows made dense", "reduce their columns first")
    return np.asarray(rows.toarray())


def check_table(who: str, metric: str, X: Any) -> None:
    """Refuse a table of distances between no rows at all."""
    shape = np.shape(X)
    if len(shape) == 2 and 0 in shape:
        raise ValueError(
            f"{who}: metric={metric!r} was given a table of shape {shape}; pass the distances "
            "between one or more rows."
        )
