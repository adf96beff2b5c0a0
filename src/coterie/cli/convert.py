"""``coterie convert``: a table from one format to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._options import (
    Columns,
    Data,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Quiet,
    Threads,
    Without,
    check_decimal,
    check_text_options_of,
    completing,
    ending,
    names,
)
from coterie.cli._outputs import as_output, check_outputs, is_stdout, named, write_files
from coterie.cli._stdin import as_files, check_there

if TYPE_CHECKING:
    from coterie.data.all_columns import AllColumns

_FORMATS = ("csv", "tsv", "parquet", "arrow", "feather", "npy")


def convert(
    data: Data,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write; - for stdout, with --to.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            help=f"Format: {', '.join(_FORMATS)}; by the end of the name by default.",
            autocompletion=completing(_FORMATS),
        ),
    ] = None,
    columns: Columns = None,
    without: Without = None,
    text: Annotated[
        str | None,
        typer.Option(help="Columns of text files to keep as text, such as codes with zeros."),
    ] = None,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Write a table in another format: CSV, TSV, Parquet, Arrow or NPY, some rows at a time."""
    from coterie.cli._telling import tell, warn
    from coterie.data.all_columns import open_columns
    from coterie.data.streams import files_of

    check_decimal(decimal)
    check_there(data)
    end = _end(output, to)
    target = as_output(output)
    check_outputs([Path(file) for file in files_of(data)], [target])
    with limited(threads, max_memory) as most_bytes, as_files(data, text=True) as places:
        check_text_options_of(places, most_bytes, decimal, header)
        table = open_columns(
            places, None if columns is None else names(columns), without=names(without),
            text=names(text), decimal=decimal, header=header, most_bytes=most_bytes,
        )  # fmt: skip
        _check_text(names(text), table)
        for note in table.notes:
            warn(note)
        kept, left = _kept(table, end)
        for note in left:
            warn(note)
        rows: list[int] = []
        write_files({target: partial(_write, end=end, table=table, kept=kept, rows=rows)})
    facts = {
        "read": table.format,
        "rows": rows[0],
        "columns": kept,
        "left_out": [name for name in table.names if name not in kept],
        "format": end[1:],
        "written": named(output),
    }
    tell(facts, partial(_lines, facts), as_json=as_json, quiet=quiet, aside=is_stdout(target))


def _end(output: Path, to: str | None) -> str:
    """Which format, as the end of a name."""
    if to is not None and to not in _FORMATS:
        raise ValueError(f"--to {to!r} was given; use one of {', '.join(_FORMATS)}.")
    if to is not None:
        return f".{to}"
    if str(output) == "-":
        raise ValueError("-o - was given without a format; add --to, such as --to csv.")
    return ending("-o", output, [f".{name}" for name in _FORMATS])


def _check_text(columns: Sequence[str], table: AllColumns) -> None:
    """Refuse to keep as text what the file has as something else, or not at all."""
    kinds = {field.name: field.type for field in table.schema}
    for column in () if table.format == "text" else columns:
        kind = kinds.get(column)
        if str(kind) not in ("string", "large_string", "string_view"):
            found = "no such column" if kind is None else f"{kind} there"
            raise ValueError(
                f"{table.name}: --text {column} was given, which is for text files; this one "
                f"has {found}; leave it out."
            )


def _kept(table: AllColumns, end: str) -> tuple[list[str], list[str]]:
    """The columns that the format can hold, and a sentence on each other."""
    from coterie.data.written import numeric_columns

    if end != ".npy":
        return table.names, []
    kept = numeric_columns(table.schema)
    if not kept:
        raise ValueError(
            f"{table.name}: no column is numeric, and NPY holds numbers; write Parquet or CSV."
        )
    left = [name for name in table.names if name not in kept]
    return kept, [f"column {name!r} holds no numbers, as NPY must; it is left out" for name in left]


def _write(path: Path, *, end: str, table: AllColumns, kept: list[str], rows: list[int]) -> None:
    from coterie.data.written import write_picked

    rows.append(write_picked(path, end, table.schema, table.tables(), kept))


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    from coterie.cli._summary import entry, listed

    yield f"rows        {facts['rows']:,}"
    yield entry("columns", listed(facts["columns"]))
    if facts["left_out"]:
        yield entry("left out", listed(facts["left_out"]))
    yield f"written     {facts['written']} ({facts['format']})"
