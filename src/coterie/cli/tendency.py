"""``coterie tendency``: is there anything to cluster?"""

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
)
from coterie.cli._outputs import summary

if TYPE_CHECKING:
    from coterie.select import Tendency


def tendency(
    data: Data,
    columns: Columns = None,
    without: Without = None,
    scale: Scale = True,
    seed: Seed = 0,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 where there is no structure.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    decimal: Decimal = None,
    header: Header = None,
    max_memory: MaxMemory = None,
) -> None:
    """Test whether the rows of a table have any structure, before they are clustered."""
    from coterie.cli._asked_rows import asked_rows
    from coterie.select import tendency as test

    with memory_limited(max_memory) as most_bytes:
        given = asked_rows(
            data, "kmeans", columns, without, scale=scale, decimal=decimal, header=header,
            most_bytes=most_bytes,
        )  # fmt: skip
        with given.wording.of_errors():
            found = test(given.rows, random_state=seed)
    if not quiet:
        with summary():
            facts = _facts(found, given.names)
            print(json.dumps(facts) if as_json else "\n".join(_lines(facts)))
    if strict and not found.has_structure:
        raise typer.Exit(1)


def _facts(found: Tendency, names: list[str]) -> dict[str, Any]:
    """What was found, in numbers."""
    return {
        "has_structure": found.has_structure,
        "p_value": found.p_value,
        "verdict": found.verdict,
        "components_p_value": found.component_p_value,
        "distances_p_value": found.distances.p_value,
        "replay_p_value": found.replay.p_value,
        "hopkins": found.hopkins.statistic,
        "rows_used": found.n_used,
        "rows_compared": found.n_compared,
        "columns": names,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    """The facts for people."""
    return [
        facts["verdict"],
        "",
        f"components  p = {facts['components_p_value']:.3g} (dip of principal components)",
        f"distances   p = {facts['distances_p_value']:.3g} (dip of distances between rows)",
        f"replay      p = {facts['replay_p_value']:.3g} (k-means against rows without structure)",
        f"Hopkins     {facts['hopkins']:.3g} (for information; 0.5 where rows are uniform)",
        f"rows        {facts['rows_used']:,}, of which {facts['rows_compared']:,} were compared",
        f"columns     {', '.join(facts['columns'])}",
    ]
