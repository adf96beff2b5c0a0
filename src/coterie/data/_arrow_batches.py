"""The files of a pyarrow dataset as small tables in order, never much more at a time than asked.

A dataset's own scanner decodes whole row groups, several at once; here Parquet is decoded some rows
at a time, Arrow files are mapped, and only what else there is (CSV) goes through the scanner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from coterie._config import get_options
from coterie.data._delimited import ONLY_HEADER
from coterie.errors import DataError

#: Bytes of a column of a Parquet file that are fetched at a time.
_FETCHED_BYTES = 1 << 18


@dataclass(frozen=True)
class Wanted:
    """What to read of every file.

    `schema` has the columns of the result, `filter` is a pyarrow expression over `read`, the
    columns that must be read for both, or None. `known` has all columns of all files. `batch_rows`
    is how many rows to decode at once.
    """

    schema: Any
    known: Any
    read: Sequence[str]
    filter: Any
    batch_rows: int


def tables_of(fragment: Any, wanted: Wanted) -> Iterator[Any]:
    """The wanted rows and columns of one file as tables, in order."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    constant = ds.get_partition_keys(fragment.partition_expression)
    at = 0
    batches = _batches(fragment, wanted)
    while True:
        with readable(fragment, at, wanted.batch_rows):
            batch = next(batches, None)
        if batch is None:
            return
        at += batch.num_rows
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        if wanted.filter is not None:
            table = _completed(table, wanted.read, constant, None).filter(wanted.filter)
        yield _completed(table, wanted.schema.names, constant, wanted.schema)


def _completed(table: Any, names: Sequence[str], constant: dict[str, Any], schema: Any) -> Any:
    """These columns: those of the file, those that its directory names, and nulls for others."""
    import pyarrow as pa

    if table.column_names == list(names):
        return table
    arrays = []
    for name in names:
        if name in table.column_names:
            arrays.append(table.column(name))
            continue
        kind = None if schema is None else schema.field(name).type
        value = pa.scalar(constant.get(name))
        if kind is not None and not pa.types.is_dictionary(kind):
            value = value.cast(kind)
        arrays.append(pa.repeat(value, table.num_rows))
    return pa.table(arrays, names=list(names))


def _batches(fragment: Any, wanted: Wanted) -> Iterator[Any]:
    """Record batches or tables of a file, of the columns that it has itself."""
    yield from _BY_FORMAT.get(format_of(fragment), _scanned)(fragment, wanted)


def format_of(fragment: Any) -> str:
    """What kind of file it is, as pyarrow calls it."""
    return type(getattr(fragment, "format", None)).__name__


def _parquet(fragment: Any, wanted: Wanted) -> Iterator[Any]:
    """Some rows of a row group at a time; row groups that a filter rules out are not read."""
    import pyarrow.parquet as pq

    if wanted.filter is not None:
        fragment = fragment.subset(filter=wanted.filter, schema=wanted.known)
    groups = [group.id for group in fragment.row_groups if group.num_rows]
    has = set(fragment.physical_schema.names)
    columns = [name for name in wanted.read if name in has]
    if not columns:  # all from the names of directories: rows are only counted
        columns = fragment.physical_schema.names[:1]
    local = fragment.filesystem.type_name == "local"
    with fragment.open() as file:
        # Here: a little of every column at a time. Afar: a row group at a time, in few requests.
        reader = pq.ParquetFile(
            file, metadata=fragment.metadata, pre_buffer=not local,
            buffer_size=_FETCHED_BYTES if local else 0,
        )  # fmt: skip
        # Threads that decode columns at once hold some buffers each.
        threads = get_options()["max_memory"] is None
        for group in groups:
            yield from reader.iter_batches(
                wanted.batch_rows, row_groups=[group], columns=columns, use_threads=threads
            )


def _mapped(fragment: Any, wanted: Wanted) -> Iterator[Any]:
    """The batches of an Arrow file; one that is not compressed is not copied."""
    import pyarrow as pa

    names = fragment.physical_schema.names
    fields = [place for place, name in enumerate(names) if name in set(wanted.read)]
    options = pa.ipc.IpcReadOptions(included_fields=fields or [0])
    local = fragment.filesystem.type_name == "local"
    with pa.memory_map(fragment.path) if local else fragment.open() as file:
        reader = pa.ipc.open_file(file, options=options)
        for place in range(reader.num_record_batches):
            batch = reader.get_batch(place)
            for start in range(0, batch.num_rows, wanted.batch_rows):
                yield batch.slice(start, wanted.batch_rows)


def _scanned(fragment: Any, wanted: Wanted) -> Iterator[Any]:
    """Whatever pyarrow scans; text files are parsed in order, a little ahead."""
    scanner = fragment.scanner(
        schema=wanted.known, columns=list(wanted.read), batch_size=wanted.batch_rows,
        batch_readahead=2, fragment_readahead=1, use_threads=True,
    )  # fmt: skip
    yield from scanner.to_batches()


_BY_FORMAT = {
    "ParquetFileFormat": _parquet, "IpcFileFormat": _mapped, "FeatherFileFormat": _mapped,
}  # fmt: skip


@contextmanager
def readable(fragment: Any, at: int, n_rows: int) -> Iterator[None]:
    """Say which rows of which file cannot be read, where they cannot."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, MemoryError):
            raise
        name = getattr(fragment, "path", None) or getattr(fragment, "name", "the table")
        reason = " ".join(str(error).split()).rstrip(".")[:300]
        if "Empty CSV file or block" in reason:  # what Arrow says of a header without a line end
            raise DataError(f"{name}: {ONLY_HEADER}.") from error
        raise DataError(
            f"{name}: rows {at} to {at + n_rows - 1} (or fewer) cannot be read ({reason}); the "
            "file may be damaged or still being written: write it again or leave it out."
        ) from error
