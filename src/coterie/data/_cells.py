"""Tables whose columns are of two types alone: words, and floats for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Typed", "cells_of", "is_table"]


@dataclass(frozen=True)
class Typed:
    """The function of tables that makes the columns `words` text and all others float64.

    It takes Arrow tables and pandas data frames and gives Arrow tables: so rows look alike wherever
    they were read, and however whole numbers or truth values were stored.
    """

    words: tuple[str, ...]

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        if not is_table(table):
            table = pa.Table.from_pandas(table, preserve_index=False)
        kinds = [pa.string() if name in self.words else pa.float64() for name in table.column_names]
        columns = [
            column.cast(kind, safe=False) for column, kind in zip(table.columns, kinds, strict=True)
        ]
        return pa.table(columns, names=table.column_names)


def is_table(rows: Any) -> bool:
    """Whether rows are an Arrow table, not an array."""
    return hasattr(rows, "column_names")


def cells_of(table: Any) -> npt.NDArray[Any]:
    """A typed table as one array: floats with NaN, or floats and str with NaN and None."""
    return np.asarray(table)
