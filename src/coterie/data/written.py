"""Results of a pass written to a file as they come: labels, probabilities, distances."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from coterie._writing import AnyPath, writing
from coterie.data._arrow_floats import float_type, is_number, put_rows
from coterie.data.source import Source
from coterie.errors import DataError

Parts = Iterator[npt.NDArray[Any]]

#: What `write_tables` writes.
TABLE_ENDS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npy")
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
        Arrays with an entry per row, or a row of as many as there are names.
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
    with writing(out) as file, _with_number():
        write(file, parts, names, np.dtype(dtype))
    return Path(out)


def write_columns(out: AnyPath, columns: Mapping[str, Any]) -> None:
    """Write columns of any types, by name, to a file: CSV, TSV, Parquet or Arrow by its end."""
    needs_pyarrow(out)
    import pyarrow as pa

    table = pa.table({name: pa.array(np.asarray(cells)) for name, cells in columns.items()})
    write_tables(out, Path(out).suffix.lower(), table.schema, [table])


def write_tables(out: AnyPath, end: str, schema: Any, tables: Iterable[Any]) -> int:
    """Write Arrow tables of one schema, one after the other, to a file that appears whole.

    Parameters
    ----------
    out
        Where to write.
    end
        What: one of `TABLE_ENDS`. Of ``.npy`` columns must be numbers; they become float32 where
        all are, else float64, with NaN where a cell is missing.
    schema
        A `pyarrow.Schema`.
    tables
        Tables or record batches; one at a time is in memory.

    Returns
    -------
    int
        How many rows there are.

    Raises
    ------
    OSError
        With the path, if the file cannot be written: a full disk, a missing directory.
    DataError
        If the format has no way to hold a column.
    """
    import pyarrow as pa

    n_rows = 0

    def counted() -> Iterator[Any]:
        nonlocal n_rows
        for table in tables:
            n_rows += table.num_rows
            yield pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table

    with writing(out) as file, _with_number():
        try:
            if end == ".npy":
                kind = float_type(schema.types)
                _write_npy(file, _float_parts(counted(), kind), schema.names, kind)
                return n_rows
            with _opened(end, file, schema) as writer:
                for table in counted():
                    writer.write_table(table)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise DataError(
                f"{os.fspath(out)}: a {end} file cannot hold these columns ({reason}); leave some "
                "out, or write Parquet."
            ) from error
    return n_rows


def _float_parts(tables: Iterator[Any], kind: np.dtype[Any]) -> Parts:
    for table in tables:
        rows = np.empty((table.num_rows, table.num_columns), dtype=kind)
        put_rows(table, rows)
        yield rows


def _opened(end: str, file: BinaryIO, schema: Any) -> Any:
    """What writes tables of a schema to a file."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if end == ".parquet":
        return pq.ParquetWriter(file, schema)
    if end in (".arrow", ".feather"):
        return pa.ipc.new_file(file, schema)
    delimiter = "\t" if end == ".tsv" else ","
    return pa_csv.CSVWriter(
        file, schema, write_options=pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    )


@contextmanager
def _with_number() -> Iterator[None]:
    """Give an OSError that came through pyarrow the number it had."""
    try:
        yield
    except OSError as error:
        told = re.search(r"\[Errno (\d+)\]|errno:? (\d+)", str(error))
        if error.errno is not None:
            raise
        if told is not None:
            number = int(told[1] or told[2])
        elif "No space left" in str(error):
            number = errno.ENOSPC
        else:
            raise
        raise OSError(number, os.strerror(number)) from error


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
    """One table per part, with a column for each name."""
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


def numeric_columns(schema: Any) -> list[str]:
    """Names of the columns that hold numbers."""
    return [field.name for field in schema if is_number(field.type)]


def write_picked(
    out: AnyPath, end: str, schema: Any, tables: Iterable[Any], names: list[str]
) -> int:
    """`write_tables` of some of the columns."""
    import pyarrow as pa

    kept = pa.schema([schema.field(name) for name in names])
    return write_tables(out, end, kept, (table.select(names) for table in tables))
