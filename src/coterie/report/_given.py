"""What a study is given: a path, a data frame, an array, a source, as a raw table with a name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.data._delimited import no_column
from coterie.data.opened import is_elsewhere
from coterie.data.raw_files import read_raw
from coterie.data.raw_table import RawTable, raw_table


@dataclass(frozen=True)
class Given:
    """A raw table, what it is called, and how it was read, in sentences."""

    table: RawTable
    name: str
    notes: tuple[str, ...]


def take_in(
    data: Any, name: str | None, decimal: str | None = None, header: bool | None = None
) -> Given:
    """Read what is named, and take what is given."""
    if isinstance(data, Given):
        return data
    if isinstance(data, (str, os.PathLike)) or (is_elsewhere(data) and isinstance(data, list)):
        places = [os.fspath(one) for one in (data if isinstance(data, list) else [data])]
        table, notes = read_raw(places, decimal=decimal, header=header)
        return Given(table, name or title_of(places), (*table.renamed, *notes))
    table = raw_table(data)
    return Given(table, name or "data", table.renamed)


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
