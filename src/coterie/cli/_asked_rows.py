"""The rows that a question is about: read, standardised where that was asked for, named."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coterie.cli._given import given
from coterie.cli._options import check_decimal, names
from coterie.cli._wording import Wording


@dataclass(frozen=True)
class AskedRows:
    """Rows for a question, an array or a source, with the names of their columns."""

    rows: Any
    names: list[str]
    wording: Wording


def asked_rows(
    places: Sequence[str], method: str, columns: str | None, without: str | None, *, scale: bool,
    decimal: str | None, header: bool | None, most_bytes: int,
) -> AskedRows:  # fmt: skip
    """Rows as the method takes them; what a reader should know of the file goes to stderr."""
    check_decimal(decimal)
    table = given(
        places, method, None if columns is None else names(columns), without=names(without),
        categorical=(), decimal=decimal, header=header, most_bytes=most_bytes, scale=scale,
    )  # fmt: skip
    for note in table.notes:
        print("coterie: warning:", " ".join(note.split()), file=sys.stderr)
    wording = Wording(method, table.names)
    with wording.of_errors():
        rows = table.rows(table.scaling() if scale else None)
    return AskedRows(rows, list(table.names), wording)
