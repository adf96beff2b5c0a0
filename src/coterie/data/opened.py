"""What a user calls rows, as a source."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.array import ArraySource
from coterie.data.npy import mapped, npy_source
from coterie.data.once import OnceSource
from coterie.data.source import Source
from coterie.errors import DataError

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_source(
    rows: Any, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
) -> Source:
    """A source of checked rows: an array, a CSR matrix, a memory map, a Dask collection, an
    iterator of batches, or a source already.
    """
    if isinstance(rows, Source):
        source = copy(rows)
        source.n_threads = n_threads
        return source if weights is None else source.weighted(weights)
    if is_dask(rows):
        from coterie.data.dask import DaskSource

        return DaskSource(rows, weights, n_threads)
    if isinstance(rows, np.memmap):
        return npy_source(rows, weights, n_threads)
    if isinstance(rows, Iterator):
        return as_source(OnceSource(rows), weights, n_threads)
    return ArraySource(rows, weights, n_threads)


def as_tables(rows: Any) -> Source:
    """A source of tables with columns of any type, of a Dask collection or of a source.

    A source that has nothing but numbers is one of tables, too.
    """
    if is_dask(rows):
        from coterie.data.dask import DaskSource

        return DaskSource(rows, tables=True)
    tables = getattr(rows, "tables", None)
    return rows if tables is None else tables()


def is_dask(rows: Any) -> bool:
    """Whether rows are a collection of Dask's, told without importing it."""
    return type(rows).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_remote(rows: Any) -> bool:
    """Whether rows are with other processes: a collection of Dask's, or a source of one."""
    return rows.remote if isinstance(rows, Source) else is_dask(rows)


def is_elsewhere(rows: Any) -> bool:
    """Whether rows are named rather than given: by a path, an address, a list of some, a dataset.

    So are those of a memory map of integers, which become floats block by block.
    """
    if isinstance(rows, np.memmap):
        return rows.ndim == 2 and rows.dtype not in _FLOATS and rows.dtype.kind in "iubf"
    if isinstance(rows, (list, tuple)):
        return bool(rows) and all(isinstance(one, (str, os.PathLike)) for one in rows)
    return isinstance(rows, (str, os.PathLike)) or _is_dataset(rows)


def elsewhere(rows: Any) -> Source | None:
    """A source of rows that are not given but named, or held by Dask; None of any others."""
    if isinstance(rows, Source):
        return rows
    if is_dask(rows):
        return as_source(rows)
    return open(rows) if is_elsewhere(rows) else None


def _is_dataset(rows: Any) -> bool:
    return type(rows).__module__.startswith("pyarrow") and hasattr(rows, "get_fragments")


def open(
    where: Any,
    columns: Sequence[str] | Sequence[int] | None = None,
    filter: Any = None,
    scale: str | Mapping[str, npt.ArrayLike] | None = None,
    dtype: npt.DTypeLike | None = None,
    weights: str | None = None,
) -> Source:
    """Rows that are not in memory, for `fit`, `predict` and all else that takes rows.

    Parameters
    ----------
    where : path, pattern, directory, list of paths, address, dataset, table or source
        Parquet, Arrow or Feather, CSV or TSV (also compressed), `.npy`. Files of a pattern or a
        directory come sorted by name, those of a list as listed; directories called
        ``column=value`` are columns. Also any address that pyarrow or fsspec opens
        (``s3://...``), a `pyarrow.dataset.Dataset` and a `pyarrow.Table`.
    columns : list of str or None
        The columns to use, in this order; of `.npy` files their places. None: all.
    filter : pyarrow expression, list of tuples or None
        Rows to use, such as ``[("year", ">=", 2020), ("country", "==", "IT")]``.
    scale : "standard", dict with "mean" and "scale", or None
        "standard": every column to mean 0 and deviation 1, learned in one pass now; see
        `source.scaling`. A model fitted to such rows keeps the scaling as `scaling_`, and applies
        it to the rows it is asked about later.
    dtype : float32, float64 or None
        None: float32 where all columns are, else float64.
    weights : str or None
        A column that says how often each row counts, read into memory now (8 bytes per row).

    Returns
    -------
    Source

    Raises
    ------
    FileNotFoundError
        If nothing is there.
    DataError
        If it cannot be read as a table, or lacks a column.
    """
    if dtype is not None and np.dtype(dtype) not in _FLOATS:
        raise DataError(f"open: dtype={dtype!r}; use 'float32', 'float64' or None.")
    source = _opened(where, columns, filter, dtype, weights)
    if scale is None:
        return source
    from coterie.data.scaling import learn_scaling, scaled_as

    if isinstance(scale, str):
        if scale != "standard":
            raise DataError(f"open: scale={scale!r}; use 'standard', a scaling or None.")
        return scaled_as(source, learn_scaling(source))
    return scaled_as(
        source, {key: np.asarray(scale[key], dtype=np.float64) for key in ("mean", "scale")}
    )


def open_all(where: Any, columns: Sequence[str] | None, without: Collection[str] = ()) -> Source:
    """`open` with all columns, of which these will be used; None: all but those `without`.

    Every file must have the columns that will be used, the others may be in some only.
    """
    return _opened(where, None, None, None, None, (columns, without))


def _opened(
    where: Any, columns: Any, filter: Any, dtype: Any, weights: Any, used: Any = None
) -> Source:
    """The source itself, with its weights; `used` are columns that will be, and those not."""
    if isinstance(where, Source):
        if (columns, filter, dtype, weights) != (None, None, None, None):
            raise DataError(
                "open: columns, filter, dtype and weights are chosen where a source is made; pass "
                "its path."
            )
        return where
    if isinstance(where, np.memmap):
        return _npy([where], columns, filter, dtype, weights)
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError as error:
        if isinstance(where, (str, os.PathLike)) and str(where).endswith(".npy"):
            return _npy([where], columns, filter, dtype, weights)
        raise ImportError("Reading files needs pyarrow: pip install 'coterie[files]'.") from error
    if isinstance(where, (pa.Table, pa.RecordBatch)):
        where = ds.dataset(where)
    if _is_dataset(where):
        return _arrow(where, columns, filter, dtype, weights, "the dataset")
    if not is_elsewhere(where):
        raise DataError(
            f"open: {type(where).__name__} is no place of rows; give a path, a pattern, a list of "
            "paths or a pyarrow dataset, and pass arrays to fit as they are."
        )
    from coterie.data._datasets import Files

    files = Files(where)
    if files.format == "npy":
        return _npy(files.local_paths(), columns, filter, dtype, weights)
    if used is None:
        asked = [columns] if isinstance(columns, str) else columns
        used = asked if asked is None or weights is None else [*asked, weights], ()
    return _arrow(files.dataset(*used), columns, filter, dtype, weights, files.name)


def _arrow(dataset: Any, columns: Any, filter: Any, dtype: Any, weights: Any, name: str) -> Source:
    from coterie.data.arrow import ArrowSource

    if weights is not None and columns is None:
        columns = [column for column in dataset.schema.names if column != weights]
    source = ArrowSource(dataset, columns, filter, dtype=dtype, name=name)
    if weights is None:
        return source
    return source.weighted(_checked_weights(weights, source.numbers(weights)))


def _npy(places: list[Any], columns: Any, filter: Any, dtype: Any, weights: Any) -> Source:
    """The rows of one array on disk, or of several in turn."""
    if filter is not None or isinstance(weights, str):
        raise DataError(
            "open: filter and weights go by the names of columns, which .npy files lack; write a "
            "Parquet file, or pass sample_weight to fit."
        )
    from coterie.data.derived import Concatenated

    parts = [npy_source(mapped(place), columns=columns, dtype=dtype) for place in places]
    return parts[0] if len(parts) == 1 else Concatenated(parts)


def _checked_weights(
    column: str, weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """Weights as estimators take them; None where all are one."""
    for bad, what in ((~np.isfinite(weights), "no finite number"), (weights < 0, "negative")):
        if bad.any():
            raise DataError(
                f"open: the weight (column {column!r}) of row {int(np.argmax(bad))} is {what}; use "
                "weights of zero or more."
            )
    if weights.size and not weights.any():
        raise DataError(f"open: all weights (column {column!r}) are zero; give some rows more.")
    return None if (weights == 1).all() else weights
