"""The rows that a question is about: read, standardised where that was asked for, named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from coterie.cli._given import given
from coterie.cli._methods import way_of
from coterie.cli._options import check_decimal, names
from coterie.cli._stdin import as_files, check_there
from coterie.cli._telling import warn
from coterie.cli._wording import Wording


@dataclass(frozen=True)
class AskedRows:
    """Rows for a question, an array or a source, with the names of their columns.

    `units` says in which units they are.
    """

    rows: Any
    n_rows: int
    names: list[str]
    units: str
    wording: Wording


@contextmanager
def asked_rows(
    places: Sequence[str], method: str, columns: str | None, without: str | None, *, scale: bool,
    decimal: str | None, header: bool | None, most_bytes: int, metric: str | None = None,
    taking: str | None = None, taking_text: str | None = None,
    own_words: Mapping[str, str] | None = None,
) -> Iterator[AskedRows]:  # fmt: skip
    """Rows as the method takes them; what a reader should know of the file goes to stderr.

    `taking` and `taking_text` are options of the command with which cells may be missing, or hold
    text; `own_words` are those that its `wording` turns besides the method's.
    """
    check_decimal(decimal)
    check_there(places)
    way = way_of(method, metric)
    scales = scale and way.scales
    with as_files(places) as files:
        table = given(
            files, method, None if columns is None else names(columns), way=way,
            without=names(without), categorical=(), decimal=decimal, header=header,
            most_bytes=most_bytes, scale=scales, taking=taking,
            taking_text=taking_text,
        )  # fmt: skip
        for note in table.notes:
            warn(note)
        wording = Wording(method, table.names, own_words)
        with wording.of_errors():
            rows = table.rows(table.scaling() if scales else None)
        units = "standardized units" if scales else "raw units"
        yield AskedRows(rows, table.n_rows, list(table.names), units, wording)
