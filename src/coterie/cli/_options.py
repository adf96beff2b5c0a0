"""What was asked for on the command line: read, and refused where a method has no such option."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="CSV, TSV, NPY, Parquet or Arrow files, 'patterns' or directories; - for stdin.",
    ),
]
MaxMemory = Annotated[
    str | None, typer.Option(help="Memory to stay within, such as 1GB; no limit by default.")
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers "
        "read the files and compute."
    ),
]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal mark, . or , where it cannot be told.")
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line holds names.")
]

Columns = Annotated[
    str | None, typer.Option(help="Columns to use, such as a,b; all that suit by default.")
]
Without = Annotated[str | None, typer.Option(help="Columns to leave out, such as a,b.")]
Scale = Annotated[bool, typer.Option("--scale/--no-scale", help="Standardise the columns first.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing.")]


#: Bytes of files that are read whole where memory is not limited, and the share of it elsewhere.
_READ_WHOLE = 1 << 28
_SHARE = 4


@contextmanager
def memory_limited(max_memory: str | None) -> Iterator[int]:
    """Stay within so much memory; how many bytes of rows may be held at once."""
    from coterie._config import get_options, options, set_options

    if max_memory is None:
        yield _READ_WHOLE
        return
    with options():
        try:
            set_options(max_memory=max_memory)
        except ValueError:
            raise ValueError(
                f"--max-memory {max_memory!r} was given; use a number of bytes, or one with a unit "
                "such as 512MB or 2GiB."
            ) from None
        yield min(_READ_WHOLE, get_options()["max_memory"] // _SHARE)


def title_of(places: Sequence[str]) -> str:
    """What to call the data in a picture."""
    first = "stdin" if places[0] == "-" else os.path.basename(places[0].rstrip("/")) or places[0]
    return first if len(places) == 1 else f"{first} and {len(places) - 1} more"


def check_text_options(places: Sequence[str], decimal: str | None, header: bool | None) -> None:
    """Refuse what only a text file that is read whole can be told, and stdin among files."""
    if "-" in places:
        raise ValueError("- (stdin) was given among other DATA, or with --dask; give files.")
    asked = [
        name for name, value in (("decimal", decimal), ("header", header)) if value is not None
    ]
    if asked:
        raise ValueError(
            f"--{asked[0]} was given, and it is for a single CSV or TSV file of at most "
            f"{_READ_WHOLE >> 20} MB, which is read whole; leave it out, or convert the data to "
            "Parquet."
        )


def kinds_of(columns: Sequence[str], categorical: Sequence[str]) -> list[str]:
    """What a mixture is told of each column: which are categorical; the others tell themselves."""
    for name in categorical:
        if name not in columns:
            raise ValueError(
                f"--categorical {name} was given, and the columns in use are {', '.join(columns)}; "
                "name some of them."
            )
    return ["categorical" if column in categorical else "auto" for column in columns]


def names(listed: str | None) -> list[str]:
    """Names between commas, quoted where they contain some."""
    return [] if listed is None else [name.strip() for name in next(csv.reader([listed]), [])]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given at all."""
    return {name: value for name, value in options.items() if value is not None}


def number_or_auto(option: str, text: str | None, kind: type) -> Any:
    """The number an option was given, or "auto"."""
    if text is None or text == "auto":
        return text
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"{option} {text!r} was given; use {what}, or auto.") from None


def option_of(name: str) -> str:
    """How an option is written."""
    return "-k" if name == "clusters" else f"--{name.replace('_', '-')}"


def check_options(
    method: str, own: dict[str, Any], scale: bool | None, decimal: str | None
) -> None:
    """Refuse an option that the method does not have, and a missing number of clusters."""
    from coterie.cli._methods import METHODS

    way = METHODS[method]
    for name, value in own.items():
        if name in way.options:
            continue
        option = option_of(name)
        others = [other for other, its in METHODS.items() if name in its.options]
        why = "finds the number of clusters by itself" if name == "clusters" else f"has no {option}"
        raise ValueError(
            f"{method} {why}, and {option}{_shown(value)} was given; leave it out or use --method "
            f"{' or '.join(others[-1:] if len(others) > 4 else others)}."
        )
    if "clusters" in way.options and "clusters" not in own:
        raise ValueError(f"{method} needs the number of clusters, such as -k 3.")
    if scale and not way.scales:
        raise ValueError(f"{method} takes the values as they are; leave --scale out.")
    check_decimal(decimal)


def _shown(value: Any) -> str:
    return "" if value is True else f" {value}"


def check_rows(method: str, n_rows: int, n_clusters: int | None) -> None:
    """Refuse a table with fewer rows than the method needs, or than clusters were asked for."""
    from coterie.cli._methods import METHODS

    needed = max(METHODS[method].least_rows, n_clusters or 1)
    if n_rows >= needed:
        return
    found = f"the table has {n_rows:,} row{'' if n_rows == 1 else 's'}"
    if n_clusters is not None and n_clusters > n_rows:
        raise ValueError(
            f"{method}: -k {n_clusters} was given, but {found}; lower -k, or give more rows."
        )
    raise ValueError(f"{method}: {found}, and at least {needed} are needed; give more rows.")


def check_decimal(decimal: str | None) -> None:
    """Refuse what is no decimal mark."""
    if decimal not in (None, ".", ","):
        raise ValueError(f"--decimal {decimal!r} was given; use '.' or ','.")
