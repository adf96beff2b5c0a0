"""``coterie choose-k``: how many clusters?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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
    Scale,
    Seed,
    Strict,
    Threads,
    Without,
    completing,
    names,
)

if TYPE_CHECKING:
    from coterie.select import KChoice

#: Methods whose number of clusters can be chosen.
_METHODS = (
    "kmeans", "minibatch", "bisecting", "gaussian", "student-t", "agglomerative", "kmedoids",
)  # fmt: skip

#: What the function of this name and its parameters are called here.
_WORDS = {"choose_k": "choose-k", "k": "-k", "criterion": "--criterion", "estimator": "--method"}


def choose_k(
    data: Data,
    k: Annotated[
        str | None,
        typer.Option(
            "-k", "--clusters", help="What to compare: 10, 2-8 or 2,3,5; up to 10 by default."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"How to cluster: {', '.join(_METHODS)}.", autocompletion=completing(_METHODS)
        ),
    ] = "kmeans",
    criterion: Annotated[
        str | None,
        typer.Option(help="Criteria, such as silhouette,gap; what suits the method by default."),
    ] = None,
    columns: Columns = None,
    without: Without = None,
    scale: Scale = True,
    seed: Seed = 0,
    strict: Strict = False,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Compare numbers of clusters by several criteria, and recommend one."""
    from coterie.cli._asked_rows import asked_rows
    from coterie.cli._methods import METHODS
    from coterie.cli._telling import tell
    from coterie.select import choose_k as choose

    if method not in _METHODS:
        raise ValueError(f"--method {method!r} was given; use one of {', '.join(_METHODS)}.")
    ks = None if k is None else numbers_asked(k)
    with (
        limited(threads, max_memory) as most_bytes,
        asked_rows(
            data, method, columns, without, scale=scale, decimal=decimal, header=header,
            most_bytes=most_bytes, taking="--method gaussian", own_words=_WORDS,
        ) as given,
        given.wording.of_errors(),
    ):  # fmt: skip
        found = choose(
            given.rows, METHODS[method].imported()(), ks,
            criterion=None if criterion is None else names(criterion), random_state=seed,
        )  # fmt: skip
    tell(_facts(found), partial(_lines, found), as_json=as_json, quiet=quiet)
    if strict and not found.has_structure:
        raise typer.Exit(1)


def numbers_asked(text: str) -> list[int]:
    """The numbers that ``10`` (1 to 10), ``2-8`` and ``2,3,5`` stand for."""
    try:
        low, dash, high = text.partition("-")
        if dash:
            found = list(range(int(low), int(high) + 1))
        else:
            found = [int(part) for part in text.split(",")]
            found = list(range(1, found[0] + 1)) if len(found) == 1 else found
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise ValueError(f"-k {text!r} was given; use numbers such as 10, 2-8 or 2,3,5.")
    return found


def _facts(found: KChoice) -> dict[str, Any]:
    """What was found; what is not defined is null."""
    return {
        "k": found.k,
        "has_structure": found.has_structure,
        "summary": _in_words(found.summary),
        "picks": found.picks,
        "table": found.table,
    }


def _lines(found: KChoice) -> Iterator[str]:
    """The recommendation, and a line for each criterion."""
    width = max(len(name) for name in found.curves)
    yield _in_words(found.summary)
    yield ""
    for name, curve in found.curves.items():
        pick = "none" if curve.pick is None else f"{curve.pick}"
        yield f"{name:<{width}}  {pick:>4}{'  (weak)' if curve.weak else ''}"


def _in_words(summary: str) -> str:
    """A summary that names commands in place of functions."""
    return summary.replace("tendency(X)", "'coterie tendency'")
