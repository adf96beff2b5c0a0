"""Files as a Dask collection, and the cluster that reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
from dask.delayed import delayed

from coterie.data._datasets import Files, text_layout
from coterie.data._notation import NULLS
from coterie.data.npy import mapped
from coterie.errors import DataError

__all__ = ["connected", "dask_rows"]

#: Seconds to wait for a scheduler, and for a worker of it.
_SCHEDULER_SECONDS = 5
_WORKER_SECONDS = 20
#: Bytes of a chunk of an array, or of text.
_CHUNK_BYTES = 1 << 26


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, in force inside the context and closed after it.

    Raises
    ------
    ConnectionError
        If no scheduler answers there within some seconds, or it has no workers.
    """
    from distributed import Client

    try:
        client = Client(address, timeout=_SCHEDULER_SECONDS)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r} ({_reason(error)}); start one with "
            "'dask scheduler' and give its address, such as tcp://127.0.0.1:8786."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            raise ConnectionError(
                f"the Dask scheduler at {address!r} has no workers; start some with 'dask worker "
                f"{address}'."
            ) from error
        yield client


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__


def dask_rows(where: Any, columns: Sequence[Any]) -> Any:
    """Columns of files as a Dask data frame, or array where they are `.npy` files.

    The workers read the files, so these must be where workers find them, too.

    Parameters
    ----------
    where
        What `coterie.data.open` takes: a path, a pattern, a directory or a list of paths.
    columns
        Names of the columns to use, in this order; of `.npy` files their places.
    """
    files = Files(where)
    if files.format == "npy":
        return _array(files.local_paths(), list(columns))
    if files.filesystem.type_name != "local":
        raise DataError(
            f"{files.name}: a cluster is given files of this machine or of a disk that it shares; "
            "read other addresses with dask.dataframe, and fit that in Python."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return _READERS[files.format](files, list(columns))


def _parquet(files: Files, columns: list[str]) -> Any:
    paths = files.paths if files.root is None else files.root
    return dask.dataframe.read_parquet(paths, columns=columns, index=False)


def _ipc(files: Files, columns: list[str]) -> Any:
    import pyarrow as pa

    schema = files.dataset().schema
    empty = pa.schema([schema.field(name) for name in columns]).empty_table().to_pandas()
    return dask.dataframe.from_map(_feather, files.paths, wanted=columns, meta=empty)


def _feather(path: str, wanted: list[str]) -> Any:
    import pyarrow.feather as feather

    return feather.read_feather(path, columns=wanted)[wanted]


def _text(files: Files, columns: list[str]) -> Any:
    delimiter, names = text_layout(files)
    packed = not all(
        path.lower().endswith((".csv", ".tsv", ".tab", ".txt")) for path in files.paths
    )
    return dask.dataframe.read_csv(
        files.paths, sep=delimiter, names=names, header=0 if names is None else None,
        usecols=columns, dtype=dict.fromkeys(columns, np.float64), na_values=NULLS,
        blocksize=None if packed else _CHUNK_BYTES,
    )[columns]  # fmt: skip


def _array(paths: Sequence[str], columns: list[int]) -> Any:
    parts = []
    for path in paths:
        rows = mapped(path)
        kind = rows.dtype if rows.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        step = max(1, _CHUNK_BYTES // max(1, rows.shape[1] * kind.itemsize))
        for start in range(0, len(rows), step):
            stop = min(start + step, len(rows))
            piece = delayed(_piece)(path, start, stop, columns, kind)
            shape = (stop - start, len(columns))
            parts.append(dask.array.from_delayed(piece, shape, kind))
    if not parts:
        raise DataError(f"{paths[0]}: there are no rows in it; give files with some.")
    return dask.array.concatenate(parts)


def _piece(path: str, start: int, stop: int, columns: list[int], kind: Any) -> Any:
    """Some rows of a `.npy` file, read where this runs."""
    return np.asarray(mapped(path)[start:stop][:, columns], dtype=kind)


_READERS = {"parquet": _parquet, "ipc": _ipc, "csv": _text}
