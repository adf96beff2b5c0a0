"""``coterie choose-k``: how many clusters?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    Without,
    memory_limited,
    names,
)
from coterie.cli._outputs import summary

if TYPE_CHECKING:
    from coterie.select import KChoice

#: Methods whose number of clusters can be chosen.
_METHODS = ("kmeans", "gaussian", "student-t", "agglomerative", "kmedoids")


def choose_k(
    data: Data,
    k: Annotated[
        str, typer.Option("-k", "--clusters", help="What to compare: 10, 2-8 or 2,3,5.")
    ] = "1-10",
    method: Annotated[str, typer.Option(help=f"How to cluster: {', '.join(_METHODS)}.")] = "kmeans",
    criterion: Annotated[
        str | None,
        typer.Option(help="Criteria, such as silhouette,gap; what suits the method by default."),
    ] = None,
    columns: Columns = None,
    without: Without = None,
    scale: Scale = True,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    decimal: Decimal = None,
    header: Header = None,
    max_memory: MaxMemory = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads to use; all by default.", min=1)
    ] = None,
) -> None:
    """Compare numbers of clusters by several criteria, and recommend one."""
    from coterie import (
        AgglomerativeClustering,
        GaussianMixture,
        KMeans,
        KMedoids,
        StudentTMixture,
    )
    from coterie.cli._asked_rows import asked_rows
    from coterie.cli._methods import METHODS
    from coterie.select import choose_k as choose

    estimators = (KMeans, GaussianMixture, StudentTMixture, AgglomerativeClustering, KMedoids)
    if method not in _METHODS:
        raise ValueError(f"--method {method!r} was given; use one of {', '.join(_METHODS)}.")
    ks = numbers_asked(k)
    with memory_limited(max_memory) as most_bytes:
        given = asked_rows(
            data, method, columns, without, scale=scale and METHODS[method].scales,
            decimal=decimal, header=header, most_bytes=most_bytes,
        )  # fmt: skip
        estimator = estimators[_METHODS.index(method)](n_threads=threads)
        with given.wording.of_errors():
            found = choose(
                given.rows, estimator, ks,
                criterion=None if criterion is None else names(criterion), random_state=seed,
            )  # fmt: skip
    if quiet:
        return
    with summary():
        print(json.dumps(_facts(found)) if as_json else "\n".join(_lines(found)))


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
        "summary": found.summary,
        "picks": found.picks,
        "table": [
            {name: value if value == value else None for name, value in row.items()}
            for row in found.table
        ],
    }


def _lines(found: KChoice) -> list[str]:
    """The recommendation, and a line a criterion."""
    width = max(len(name) for name in found.curves)
    lines = [found.summary, ""]
    for name, curve in found.curves.items():
        pick = "none" if curve.pick is None else f"{curve.pick}"
        lines.append(f"{name:<{width}}  {pick:>4}{'  (weak)' if curve.weak else ''}")
    return lines
