"""The options that commands share, each declared once, and how their values are read."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

#: What ``fit --method`` takes; coterie.cli._methods says what they are.
METHOD_NAMES = (
    "kmeans", "minibatch", "bisecting", "spherical", "hierarchical", "kmedoids", "kcenter",
    "leader", "gaussian", "student-t", "bayesian", "bernoulli", "poisson", "categorical", "mixed",
    "agglomerative", "dbscan", "hdbscan",
)  # fmt: skip
#: What --linkage takes.
LINKAGES = (
    "ward", "average", "complete", "single", "weighted", "centroid", "median", "genie",
)  # fmt: skip
#: What --search takes.
SEARCHES = ("auto", "fasterpam", "pam", "alternate", "onebatch")
COVARIANCES = ("full", "tied", "diag", "spherical")
#: Metrics worth offering; others are taken, too.
_METRICS = (
    "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "canberra", "braycurtis",
    "seuclidean", "mahalanobis", "hamming", "jaccard", "gower", "nan_euclidean", "precomputed",
)  # fmt: skip
#: Bytes of text that are read whole where memory is not limited.
READ_WHOLE = 1 << 28


def completing(names: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell offers for the beginning of a word."""

    def begun(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return begun


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, NPY, Parquet or Arrow files, 'patterns' or directories; - for stdin.",
    ),
]
Columns = Annotated[
    str | None, typer.Option(help="Columns to use, such as a,b; all that suit by default.")
]
Without = Annotated[str | None, typer.Option(help="Columns to leave out, such as a,b.")]
Scale = Annotated[bool, typer.Option("--scale/--no-scale", help="Standardise the columns first.")]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal mark, . or , where it cannot be told.")
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line holds names.")
]
Metric = Annotated[
    str | None,
    typer.Option(
        help="How near is measured; euclidean by default. gower takes text and missing cells.",
        autocompletion=completing(_METRICS),
    ),
]
Linkage = Annotated[
    str, typer.Option(help=f"One of {', '.join(LINKAGES)}.", autocompletion=completing(LINKAGES))
]

Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit code 1 where there is no structure.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but warnings and errors.")]
Threads = Annotated[int | None, typer.Option(help="Threads to use; all by default.", min=1)]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        help="Memory to stay within, such as 1GB; no limit by default. Python itself takes some "
        "110 MB: with less, rows are only read in smaller parts."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers "
        "read the files and compute."
    ),
]


def title_of(places: Sequence[str]) -> str:
    """What to call the data in a picture."""
    first = "stdin" if places[0] == "-" else os.path.basename(places[0].rstrip("/")) or places[0]
    return first if len(places) == 1 else f"{first} and {len(places) - 1} more"


def check_text_options(decimal: str | None, header: bool | None) -> None:
    """Refuse what only a text file that is read whole can be told."""
    asked = [
        name for name, value in (("decimal", decimal), ("header", header)) if value is not None
    ]
    if asked:
        raise ValueError(
            f"--{asked[0]} was given, and it is for a single CSV or TSV file of at most "
            f"{READ_WHOLE >> 20} MB, which is read whole; leave it out, or convert the data to "
            "Parquet."
        )


def check_text_options_of(
    places: Sequence[str], most_bytes: int, decimal: str | None, header: bool | None
) -> None:
    """The same, unless it is such a file, or standard input."""
    from coterie.data.streams import is_streamed

    if is_streamed(places, most_bytes) or places[0].lower().endswith((".npy", ".xlsx", ".xlsm")):
        check_text_options(decimal, header)


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


def ending(option: str, path: Path, ends: Sequence[str]) -> str:
    """The end of a file's name, which says what is written there; one of these."""
    end = path.suffix.lower()
    if end not in ends:
        raise ValueError(
            f"{option} {path} was given; use a name that ends in {', '.join(ends[:-1])} or "
            f"{ends[-1]}."
        )
    return end


def check_decimal(decimal: str | None) -> None:
    """Refuse what is no decimal mark."""
    if decimal not in (None, ".", ","):
        raise ValueError(f"--decimal {decimal!r} was given; use '.' or ','.")
