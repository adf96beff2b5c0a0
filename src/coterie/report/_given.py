"""What a study is given: a path, a data frame, an array, a source, as a raw table with a name."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.data._delimited import no_column
from coterie.data.opened import is_elsewhere
from coterie.data.raw_files import read_raw
from coterie.data.raw_table import RawTable, raw_table
from coterie.data.sql import from_sql
from coterie.errors import DataError

#: In an address, which is told without it.
_PASSWORD = re.compile(r"(://[^:/@]*):[^@/]*@")


@dataclass(frozen=True)
class Given:
    """A raw table, what it is called, and how it was read, in sentences.

    `command` is how the command line is given it again, and `python` how `coterie.study` is; None
    where that cannot be.
    """

    table: RawTable
    name: str
    notes: tuple[str, ...]
    command: str | None = None
    python: str | None = None


def take_in(data: Any, name: str | None) -> Given:
    """Read what is named, and take what is given."""
    if isinstance(data, Given):
        return data
    if isinstance(data, (str, os.PathLike)) or (is_elsewhere(data) and isinstance(data, list)):
        return read_places([os.fspath(one) for one in (data if isinstance(data, list) else [data])],
                           name=name)  # fmt: skip
    table = raw_table(data)
    python = "data" if name is None else f"data, name={name!r}"
    return Given(table, name or "data", table.renamed, python=python)


def read_places(
    places: list[str],
    *,
    name: str | None = None,
    asked: list[str] | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    query: str | None = None,
) -> Given:
    """Read files, or what a database answers to a query.

    `asked` are the places as they were named, where these are not `places`.
    """
    asked = [_PASSWORD.sub(r"\1@", place) for place in asked or places]
    options = [] if decimal is None else ["--decimal", decimal]
    options += [] if header is None else ["--header" if header else "--no-header"]
    options += [] if query is None else ["--query", query]
    python: str | None = repr(asked[0] if len(asked) == 1 else asked)
    if query is not None:
        table, notes = _answer(places, query), ["The answer of a query was studied."]
        python = f"coterie.data.from_sql({asked[0]!r}, {query!r})"
    else:
        table, notes = read_raw(places, decimal=decimal, header=header, codes=True)
        if options or asked == ["-"]:  # which Python has no words for
            python = None
    return Given(
        table, name or title_of(asked), (*table.renamed, *notes), shlex.join([*asked, *options]),
        python,
    )  # fmt: skip


def _answer(places: list[str], query: str) -> RawTable:
    """The rows that a query gives."""
    if len(places) > 1 or places == ["-"]:
        raise DataError("--query was given; name one database: a file or an address.")
    return raw_table(from_sql(places[0], query))


def check_set_aside(given: Given, without: Sequence[str]) -> None:
    """Refuse columns that the table does not have, and a name where several were meant."""
    if isinstance(without, str):
        raise TypeError(f"study: without={without!r} is a text; give a list of names.")
    for name in without:
        if name not in given.table.names:
            raise no_column(given.name, name, list(given.table.names))


def title_of(places: list[str]) -> str:
    """What to call some files."""
    first = "stdin" if places[0] == "-" else Path(places[0]).name or places[0]
    return first if len(places) == 1 else f"{first} and {len(places) - 1} more"
