"""Where rows come from: one interface, Source, over arrays, files, databases and clusters."""

from coterie.data.array import ArraySource
from coterie.data.once import OnceSource, is_once
from coterie.data.opened import (
    as_source,
    as_tables,
    elsewhere,
    is_dask,
    is_elsewhere,
    is_remote,
    open,
)
from coterie.data.source import Block, RowsByNumber, Source
from coterie.data.sql import from_sql, write_sql

__all__ = [
    "ArraySource",
    "Block",
    "OnceSource",
    "RowsByNumber",
    "Source",
    "as_source",
    "as_tables",
    "elsewhere",
    "from_sql",
    "is_dask",
    "is_elsewhere",
    "is_once",
    "is_remote",
    "open",
    "write_sql",
]  # fmt: skip
