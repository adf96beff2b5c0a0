"""Files as a Dask collection, and the cluster that reads them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import dask.array
import dask.dataframe
import numpy as np
from dask.delayed import delayed
from distributed import Client

from coterie.data._cells import Typed
from coterie.data._cluster import no_logs
from coterie.data._datasets import Files, text_layout
from coterie.data._notation import NULLS
from coterie.data.dask import DaskSource
from coterie.data.npy import mapped
from coterie.data.streams import Stream
from coterie.errors import DataError

__all__ = ["connected", "dask_rows", "on_cluster"]

AnyStream = TypeVar("AnyStream", bound=Stream)

#: Seconds to wait for a scheduler, and for a worker of it.
_SCHEDULER_SECONDS = 5
_WORKER_SECONDS = 20
#: Bytes of a chunk of an array, or of text.
_CHUNK_BYTES = 1 << 26


@contextmanager
def on_cluster(stream: AnyStream, places: Sequence[str], address: str) -> Iterator[AnyStream]:
    """The same columns, read by the workers of a cluster; its client is closed in the end.

    Raises
    ------
    ConnectionError
        If there is no such cluster.
    DataError
        If files cannot be read there, or text files turn out to have cells that are no numbers.
    """
    with connected(address), _naming(stream.name):
        where = places[0] if len(places) == 1 else list(places)
        collection = dask_rows(where, stream.stored, stream.words)
        source = DaskSource(collection, tables=stream.tables, name=stream.name)
        if stream.tables:
            source = source.through(Typed(stream.words))
        yield replace(stream, source=source)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Say which files pandas speaks of where they have a word among numbers."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("could not convert string to float"):
            raise
        raise DataError(
            f"{name}: a cell among numbers is none ({error}); mend it, or leave its column out."
        ) from error


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, in force inside the context and closed after it.

    Raises
    ------
    ConnectionError
        If no scheduler answers there within some seconds, or it has no workers.
    """
    with no_logs():
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
                    f"the Dask scheduler at {address!r} has no workers; start some with 'dask "
                    f"worker {address}'."
                ) from error
            yield client


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__


def dask_rows(where: Any, columns: Sequence[Any], words: Collection[str] = ()) -> Any:
    """Columns of files as a Dask data frame, or array where they are `.npy` files.

    The workers read the files, so these must be where workers find them, too.

    Parameters
    ----------
    where
        What `coterie.data.open` takes: a path, a pattern, a directory or a list of paths.
    columns
        Names of the columns to use, in this order; of `.npy` files their places.
    words
        Those of them to be used as text: read as such, or as they are stored.
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
        return _READERS[files.format](files, list(columns), words)


def _parquet(files: Files, columns: list[str], words: Collection[str]) -> Any:
    paths = files.paths if files.root is None else files.root
    # As text, a whole number must not have become a float because others are missing.
    kept = {"dtype_backend": "pyarrow"} if words else {}
    return dask.dataframe.read_parquet(paths, columns=columns, index=False, **kept)


def _ipc(files: Files, columns: list[str], words: Collection[str]) -> Any:
    import pyarrow as pa

    schema = files.dataset(columns).schema
    empty = pa.schema([schema.field(name) for name in columns]).empty_table()
    return dask.dataframe.from_map(
        _feather, files.paths, wanted=columns, as_stored=bool(words),
        meta=_frame(empty, bool(words)),
    )  # fmt: skip


def _feather(path: str, wanted: list[str], as_stored: bool) -> Any:
    import pyarrow.feather as feather

    return _frame(feather.read_table(path, columns=wanted).select(wanted), as_stored)


def _frame(table: Any, as_stored: bool) -> Any:
    """A data frame of an Arrow table; `as_stored` with its types, otherwise with NumPy's."""
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype if as_stored else None)


def _text(files: Files, columns: list[str], words: Collection[str]) -> Any:
    delimiter, names = text_layout(files)
    packed = not all(
        path.lower().endswith((".csv", ".tsv", ".tab", ".txt")) for path in files.paths
    )
    return dask.dataframe.read_csv(
        files.paths, sep=delimiter, names=names, header=0 if names is None else None,
        usecols=columns, na_values=NULLS,
        dtype={name: str if name in words else np.float64 for name in columns},
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
