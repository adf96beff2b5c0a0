"""Standardising columns: mean 0 and standard deviation 1 each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.tables import Table
from coterie.errors import DataError
from coterie.table_model import Scaling, standardized

__all__ = ["Scaling", "column_scaling", "in_own_units", "standardized"]

#: Rows handled in one go.
_BATCH = 1 << 18


def column_scaling(table: Table) -> Scaling:
    """Mean and population standard deviation of each column; 1 for a constant column."""
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import gen_batches

    scaler = StandardScaler()
    with np.errstate(all="ignore"):  # an overflow shows in the result
        for batch in gen_batches(len(table.values), _BATCH):
            scaler.partial_fit(table.values[batch])
    for name, mean, variance in zip(table.names, scaler.mean_, scaler.var_, strict=True):
        if not (np.isfinite(mean) and np.isfinite(variance)):
            raise DataError(
                f"column {name!r} has values too large to be squared, so it has no standard "
                f"deviation; divide it, or use --no-scale."
            )
    return {"mean": scaler.mean_, "scale": scaler.scale_}


def in_own_units(rows: npt.NDArray[Any], scaling: Scaling | None) -> npt.NDArray[Any]:
    """The inverse of `standardized`."""
    return rows if scaling is None else rows * scaling["scale"] + scaling["mean"]
