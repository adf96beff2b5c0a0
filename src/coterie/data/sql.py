"""Rows that a database query gives, and results written back to a table by key."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy.typing as npt

from coterie.data._databases import Database, connected
from coterie.data._spool import Spool
from coterie.data.arrow import ArrowSource
from coterie.errors import DataError

__all__ = ["from_sql", "write_sql"]


def from_sql(
    connection: Any,
    query: str,
    columns: Sequence[str] | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> ArrowSource:
    """The rows that a query gives, for `fit`, `predict` and all else that takes rows.

    The query is run once, now; its answer is kept in a temporary file, which goes away with the
    source, and streamed from there on every pass. Memory does not grow with the answer.

    Parameters
    ----------
    connection
        An address (``"postgresql://user@host/name"``, a SQLite or DuckDB file, or
        ``"sqlite:///path"``, ``"duckdb:///path"``), or an open connection of an ADBC driver or of
        duckdb, which stays open.
    query
        One statement that gives rows. Without ORDER BY a database may give them in any order.
    columns
        The columns to cluster by, in this order; None for all. Others, such as keys, can be had by
        ``source.column(name)``.
    dtype
        float32, float64 or None: float32 where no column is wider.

    Raises
    ------
    DataError
        If the database refuses the query, or its answer has no columns.
    OSError
        If there is no room for the answer.
    """
    ds = _needed("pyarrow.dataset")
    with connected(connection) as database, _told("from_sql: the query failed"):
        reader = database.read(query)
        schema = _plain_schema(reader.schema)
        spool = Spool((_plain(batch, schema) for batch in reader), schema)
    try:
        dataset = ds.dataset([spool.path], format="ipc")
        source = ArrowSource(dataset, columns, dtype=dtype, name="the answer of the query")
    except BaseException:
        spool.close()
        raise
    source._n_rows = spool.n_rows
    source._kept = spool
    return source


def write_sql(
    connection: Any,
    table: str,
    keys: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> int:
    """Write results to a table by key: labels, probabilities, distances.

    A table that is there gets the values in the rows with these keys, and the columns it lacks;
    else it is made of keys and values. One transaction: all is written or nothing. On a connection
    of yours, what you have not committed is committed or undone with it.

    Parameters
    ----------
    connection
        As in `from_sql`.
    table
        Name of the table, with that of its schema before a dot where it needs one.
    keys
        Names and values of the columns that tell the rows apart: ``{"id": ids}``.
    columns
        Names and values of the columns to write, an entry per key. A 2-d array is written column by
        column, with numbers behind the name: ``{"cluster": labels, "p": probabilities}``.

    Returns
    -------
    int
        How many rows were written.

    Raises
    ------
    DataError
        If a key is there twice or missing in the table, or the database refuses. Nothing is
        written then.
    """
    values = _as_table(keys, columns)
    name = f"coterie_{secrets.token_hex(6)}"
    with connected(connection) as database, _told(f"write_sql: {table} was left as it was"):
        there = _has(database, table)
        database.begin()
        try:
            database.put(name, values)
            _write(database, name, _quoted(table), there, values.schema, list(keys))
            database.run(f"DROP TABLE {_quoted(name)}")
            database.commit()
        except BaseException:
            database.rollback()
            raise
    return int(values.num_rows)


def _write(
    database: Database, name: str, table: str, there: bool, schema: Any, keys: Sequence[str]
) -> None:
    """Move values from a table of our own to where they belong."""
    new, own = _quoted(name), [_quoted(key) for key in keys]
    same = " AND ".join(f"{table}.{key} = {new}.{key}" for key in own)
    twice = database.rows(
        f"SELECT {', '.join(own)} FROM {new} GROUP BY {', '.join(own)} HAVING COUNT(*) > 1 LIMIT 1"
    )
    if twice:
        raise DataError(f"the key {_shown(twice[0])} is given more than once; give each key once")
    if not there:
        database.run(f"CREATE TABLE {table} AS SELECT * FROM {new}")
        return
    missing = database.rows(
        f"SELECT {', '.join(own)} FROM {new} WHERE NOT EXISTS "
        f"(SELECT 1 FROM {table} WHERE {same}) LIMIT 1"
    )
    if missing:
        raise DataError(
            f"the table has no row with the key {_shown(missing[0])}; write keys that it has"
        )
    known = _column_names(database, table)
    titles = [title for title in schema.names if title not in keys]
    for title in titles:
        if title.lower() not in known:
            kind = _sql_type(schema.field(title).type)
            database.run(f"ALTER TABLE {table} ADD COLUMN {_quoted(title)} {kind}")
    changes = ", ".join(f"{_quoted(title)} = {new}.{_quoted(title)}" for title in titles)
    database.run(f"UPDATE {table} SET {changes} FROM {new} WHERE {same}")


def _as_table(keys: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
    """Keys and values as one Arrow table."""
    import numpy as np

    pa = _needed("pyarrow")
    if not keys or not columns:
        raise DataError("write_sql: give at least one column of keys and one of values.")
    parts: dict[str, Any] = {}
    for name, given in {**keys, **columns}.items():
        values = given if isinstance(given, (pa.Array, pa.ChunkedArray)) else np.asarray(given)
        if isinstance(values, np.ndarray) and values.ndim == 2:
            parts |= {f"{name}_{place}": column for place, column in enumerate(values.T)}
        else:
            parts[name] = values
    sizes = {name: len(values) for name, values in parts.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise DataError(f"write_sql: keys and values differ in length ({told}); give one per row.")
    return pa.table(
        {
            name: pa.array(np.ascontiguousarray(values))
            if isinstance(values, np.ndarray)
            else values
            for name, values in parts.items()
        }
    )


def _has(database: Database, table: str) -> bool:
    """Whether there is such a table; asked of the catalogue, as a failure may end a transaction."""
    *schema, name = (part.replace("'", "''") for part in table.split("."))
    if database.vendor == "sqlite":
        return bool(database.rows(f"SELECT 1 FROM sqlite_master WHERE name = '{name}'"))
    where = f" AND table_schema = '{schema[-1]}'" if schema else ""
    asked = f"SELECT 1 FROM information_schema.tables WHERE table_name = '{name}'{where}"
    return bool(database.rows(asked))


def _column_names(database: Database, table: str) -> set[str]:
    reader = database.read(f"SELECT * FROM {table} LIMIT 1")
    names = {str(name).lower() for name in reader.schema.names}
    reader.read_all()
    return names


def _sql_type(kind: Any) -> str:
    """What a column of an Arrow type is called in all three databases."""
    import pyarrow.types as types

    if types.is_integer(kind):
        return "BIGINT"
    if types.is_floating(kind):
        return "DOUBLE PRECISION"
    return "BOOLEAN" if types.is_boolean(kind) else "TEXT"


def _quoted(name: str) -> str:
    """A name of a table or column, of a schema and a table where there is a dot."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _shown(row: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in row)


def _plain_schema(schema: Any) -> Any:
    """The types of an answer as other readers know them."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: Any) -> Any:
    """PostgreSQL's `numeric` comes as text that is marked as such; it is a number."""
    import pyarrow as pa

    if not isinstance(kind, pa.BaseExtensionType):
        return kind
    return pa.float64() if getattr(kind, "type_name", "") == "numeric" else kind.storage_type


def _plain(batch: Any, schema: Any) -> Any:
    import pyarrow as pa

    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.record_batch(columns, schema=schema)


def _needed(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError("Databases need pyarrow: pip install 'coterie[sql]'.") from error


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say what failed in one sentence; errors of the system and interrupts stay what they are."""
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split()).rstrip(".")[:500]
        raise DataError(f"{what} ({reason}).") from error
