"""Databases behind one face: ask for Arrow batches, put a table, run a statement, commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coterie.errors import DataError

#: Rows by which SQLite, which has no types of columns, tells their types.
_SQLITE_ROWS = 1 << 16


class Database:
    """A connection of ADBC's kind (DB-API with Arrow)."""

    def __init__(self, connection: Any) -> None:
        self._cursor = connection.cursor()
        self._connection = connection

    @property
    def vendor(self) -> str:
        """What database it is, in small letters."""
        return str(self._connection.adbc_get_info().get("vendor_name", "")).lower()

    def read(self, query: str) -> Any:
        """The answer of a query as a reader of record batches."""
        if self.vendor == "sqlite":
            rows = {"adbc.sqlite.query.batch_rows": str(_SQLITE_ROWS)}
            self._cursor.adbc_statement.set_options(**rows)
        self._cursor.execute(query)
        return self._cursor.fetch_record_batch()

    def put(self, name: str, table: Any) -> None:
        """Make a new table of an Arrow table."""
        self._cursor.adbc_ingest(name, table, mode="create")

    def begin(self) -> None:
        """Begin a transaction; connections are always in one."""

    def run(self, statement: str) -> None:
        """Run a statement without an answer."""
        self._cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer of a small query."""
        self._cursor.execute(query)
        return list(self._cursor.fetchall())

    def commit(self) -> None:
        """Keep what was done since the last time."""
        self._connection.commit()

    def rollback(self) -> None:
        """Undo what was done since the last time."""
        self._connection.rollback()

    def close_cursor(self) -> None:
        """Let go of what the connection keeps for us."""
        self._cursor.close()


class DuckDatabase(Database):
    """A connection of the duckdb package itself."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = connection

    @property
    def vendor(self) -> str:
        return "duckdb"

    def read(self, query: str) -> Any:
        if hasattr(self._connection, "to_arrow_reader"):
            return self._connection.sql(query).to_arrow_reader()
        return self._connection.execute(query).fetch_record_batch()

    def put(self, name: str, table: Any) -> None:
        self._connection.register(f"{name}_rows", table)
        self._connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "{name}_rows"')
        self._connection.unregister(f"{name}_rows")

    def begin(self) -> None:
        self._connection.begin()

    def close_cursor(self) -> None:
        pass


@contextmanager
def connected(where: Any) -> Iterator[Database]:
    """A database by its address, or by a connection, which stays open."""
    if isinstance(where, (str, os.PathLike)):
        connection = _connect(os.fspath(where))
        try:
            yield from _face(connection)
        finally:
            connection.close()
    else:
        yield from _face(where)


def _face(connection: Any) -> Iterator[Database]:
    module = type(connection).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb"):
        face: Database = DuckDatabase(connection)
    elif hasattr(connection, "adbc_get_info"):
        face = Database(connection)
    else:
        raise DataError(
            f"{type(connection).__module__}.{type(connection).__name__} is no connection that "
            "speaks Arrow; pass an address ('postgresql://...', 'file.sqlite', 'file.duckdb'), or "
            "a connection of an adbc driver or of duckdb."
        )
    try:
        yield face
    finally:
        face.close_cursor()


def _connect(address: str) -> Any:
    """A new connection to the database at an address."""
    scheme, found, rest = address.partition("://")
    kind = scheme.lower() if found else ""
    path = rest.removeprefix("/") if rest.startswith("//") or not rest.startswith("/") else rest
    if kind in ("postgresql", "postgres"):
        return _driver("adbc_driver_postgresql").connect(address)
    if kind == "duckdb" or (not kind and address.lower().endswith((".duckdb", ".ddb"))):
        return _driver("adbc_driver_duckdb", "duckdb").connect(path if kind else address)
    if kind in ("sqlite", "file") or not kind:
        place = path if kind else address
        if place != ":memory:" and not os.path.exists(place):
            raise FileNotFoundError(
                f"{address!r} names no database file; give one, or an address such as "
                "'postgresql://user@host/name'."
            )
        return _driver("adbc_driver_sqlite").connect(place)
    raise DataError(
        f"{address!r}: databases of kind {kind!r} are not known; use sqlite://, duckdb:// or "
        "postgresql://, or pass a connection of an adbc driver."
    )


def _driver(name: str, package: str | None = None) -> Any:
    from importlib import import_module

    try:
        return import_module(f"{name}.dbapi")
    except ImportError as error:
        wanted = package or "'coterie[sql]'"
        raise ImportError(f"This database needs {name}: pip install {wanted}.") from error
