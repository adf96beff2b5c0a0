"""Results of a pass written to a file as they come: labels, probabilities, distances."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from coterie._writing import AnyPath, writing
from coterie.data.source import Source
from coterie.errors import DataError

Parts = Iterator[npt.NDArray[Any]]

#: How a `.npy` file begins; its header is written again once the number of rows is known.
_NPY_HEADER_BYTES = 128


def write_results(out: AnyPath, parts: Parts, names: str | list[str], dtype: Any) -> Path:
    """Write arrays, one after the other, to a `.parquet`, `.npy`, `.csv` or Arrow file.

    The file appears whole or not at all; a part at a time is in memory.

    Parameters
    ----------
    out
        Where to write; how is told by the end of the name.
    parts
        Arrays with an entry a row, or a row of as many as there are names.
    names
        Of the column, or a list of those of the columns.
    dtype
        Of the results.

    Raises
    ------
    OSError
        With the path, if the file cannot be written: a full disk, a missing directory.
    """
    write = WRITERS.get(Path(out).suffix.lower())
    if write is None:
        raise DataError(
            f"out={os.fspath(out)!r}: results are written to files that end in "
            f"{', '.join(WRITERS)}; choose one of these."
        )
    if write is not _write_npy:
        needs_pyarrow(out)
    with writing(out) as file:
        try:
            write(file, parts, names, np.dtype(dtype))
        except OSError as error:
            if error.errno is None and "No space left" in str(error):  # as pyarrow tells it
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
    return Path(out)


def write_columns(out: AnyPath, columns: Mapping[str, Any]) -> None:
    """Write columns of any types, by name, to a Parquet file, whole or not at all."""
    needs_pyarrow(out)
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(np.asarray(cells)) for name, cells in columns.items()})
    with writing(out) as file:
        pq.write_table(table, file)


def given_or_written(
    source: Source,
    out: AnyPath | None,
    names: str | list[str],
    job: Callable[..., None],
    *model: Any,
    dtype: npt.DTypeLike,
) -> Any:
    """``source.map(job, *model)`` as an array, or as the path of the file it was written to.

    `names` is what the column is called, or a list with as many names as the result has columns.
    """
    width = None if isinstance(names, str) else len(names)
    if out is None:
        return source.map(job, *model, dtype=dtype, width=width)
    # Closed at once where writing fails: an error would hold the reader as long as it is looked at.
    with closing(source.results(job, *model, dtype=dtype, width=width)) as parts:
        return write_results(out, parts, names, dtype)


def _write_npy(file: BinaryIO, parts: Parts, names: str | list[str], dtype: np.dtype[Any]) -> None:
    """NumPy's format, whose header has room for any number of rows."""
    file.write(b"\0" * _NPY_HEADER_BYTES)
    n_rows = 0
    for part in parts:
        n_rows += len(part)
        file.write(np.ascontiguousarray(part, dtype=dtype).data)
    shape = (n_rows,) if isinstance(names, str) else (n_rows, len(names))
    file.seek(0)
    file.write(_npy_header(shape, dtype))
    file.seek(0, os.SEEK_END)


def _npy_header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """The header of version 1.0, padded with blanks."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    begin = b"\x93NUMPY\x01\x00" + (_NPY_HEADER_BYTES - 10).to_bytes(2, "little")
    return begin + text.ljust(_NPY_HEADER_BYTES - 11).encode() + b"\n"


def needs_pyarrow(out: AnyPath) -> None:
    """Say what to install where pyarrow is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"Writing {os.fspath(out)!r} needs pyarrow: pip install 'coterie[files]'; or write a "
            ".npy file."
        ) from error


def _write_parquet(file: BinaryIO, parts: Parts, names: str | list[str], dtype: Any) -> None:
    import pyarrow.parquet as pq

    _write_tables(lambda schema: pq.ParquetWriter(file, schema), parts, names, dtype)


def _write_csv(file: BinaryIO, parts: Parts, names: str | list[str], dtype: Any) -> None:
    import pyarrow.csv as pa_csv

    _write_tables(lambda schema: pa_csv.CSVWriter(file, schema), parts, names, dtype)


def _write_arrow(file: BinaryIO, parts: Parts, names: str | list[str], dtype: Any) -> None:
    import pyarrow as pa

    _write_tables(lambda schema: pa.ipc.new_file(file, schema), parts, names, dtype)


def _write_tables(
    opened: Callable[[Any], Any], parts: Parts, names: str | list[str], dtype: np.dtype[Any]
) -> None:
    """One table a part, with a column a name."""
    import pyarrow as pa

    titles = [names] if isinstance(names, str) else names
    schema = pa.schema([(title, pa.from_numpy_dtype(dtype)) for title in titles])
    with opened(schema) as writer:
        for part in parts:
            columns = [part] if isinstance(names, str) else list(np.asarray(part).T)
            arrays = [np.ascontiguousarray(column, dtype=dtype) for column in columns]
            writer.write_table(pa.table(arrays, schema=schema))


WRITERS: dict[str, Callable[[BinaryIO, Parts, Any, Any], None]] = {
    ".parquet": _write_parquet,
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}
