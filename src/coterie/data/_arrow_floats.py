"""Columns of Arrow tables as rows of floats, in blocks of one size however the tables are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

#: Rows copied at a time, so that what a column leaves in the cache serves the next.
_TILE_ROWS = 1 << 12


def is_number(kind: Any) -> bool:
    """Whether cells of an Arrow type are numbers to us; columns of nothing but nulls are NaN."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        or types.is_decimal(kind) or types.is_null(kind)
    )  # fmt: skip


def float_type(kinds: Iterable[Any]) -> np.dtype[Any]:
    """The type of rows: float32 where all columns are that or half as wide, else float64."""
    import pyarrow.types as types

    narrow = all(types.is_float32(kind) or types.is_float16(kind) for kind in kinds)
    return np.dtype(np.float32 if narrow else np.float64)


def float_blocks(
    tables: Iterable[Any], n_cols: int, dtype: np.dtype[Any], block_rows: int
) -> Iterator[npt.NDArray[Any]]:
    """The rows of tables in blocks of exactly so many, but for the last; C order."""
    block, filled = None, 0
    for table in tables:
        start = 0
        while start < table.num_rows:
            if block is None:
                block = np.empty((block_rows, n_cols), dtype=dtype)
            n_rows = min(block_rows - filled, table.num_rows - start)
            put_rows(table.slice(start, n_rows), block[filled : filled + n_rows])
            start, filled = start + n_rows, filled + n_rows
            if filled == block_rows:
                yield block
                block, filled = None, 0
    if block is not None:
        yield block[:filled]


def put_rows(table: Any, out: npt.NDArray[Any]) -> None:
    """Write the columns of a table into an array with a row for each of its rows."""
    columns = [_column(column) for column in table.columns]
    tile = max(_TILE_ROWS, len(out) if len(columns) < 32 else 0)
    with np.errstate(over="ignore"):  # what is too large for float32 is infinite, and told so
        for start in range(0, len(out), tile):
            here = slice(start, start + tile)
            for place, column in enumerate(columns):
                out[here, place] = column[here]


def _column(column: Any) -> npt.NDArray[Any]:
    """A column as NumPy has it, NaN where it is null; not copied if it need not be."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif types.is_decimal(kind):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())
