"""What was asked for on the command line: read, and refused where a method has no such option."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV or NPY file; - for stdin.")]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal mark, . or , where it cannot be told.")
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line holds names.")
]


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
