"""``coterie tendency``: is there anything to cluster?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

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
)

if TYPE_CHECKING:
    from coterie.select import Tendency


def tendency(
    data: Data,
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
    """Test whether the rows of a table have any structure, before they are clustered."""
    from coterie.cli._asked_rows import asked_rows
    from coterie.cli._method_options import check_rows
    from coterie.cli._telling import tell
    from coterie.select import tendency as test

    with (
        limited(threads, max_memory) as most_bytes,
        asked_rows(
            data, "kmeans", columns, without, scale=scale, decimal=decimal, header=header,
            most_bytes=most_bytes,
        ) as given,
        given.wording.of_errors(),
    ):  # fmt: skip
        check_rows("tendency", 2, given.n_rows, None)
        found = test(given.rows, random_state=seed)
    facts = _facts(found, given.names)
    tell(facts, partial(_lines, facts), as_json=as_json, quiet=quiet)
    if strict and not found.has_structure:
        raise typer.Exit(1)


def _facts(found: Tendency, names: list[str]) -> dict[str, Any]:
    """What was found, in numbers."""
    return {
        "has_structure": found.has_structure,
        "p_value": found.p_value,
        "verdict": found.verdict,
        "components_p_value": found.component_p_value,
        "columns_p_value": found.column_p_value,
        "distances_p_value": found.distances.p_value,
        "replay_p_value": found.replay.p_value,
        "hopkins": found.hopkins.statistic,
        "rows_used": found.n_used,
        "rows_compared": found.n_compared,
        "columns": names,
    }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    yield facts["verdict"]
    yield ""
    yield f"components  p = {facts['components_p_value']:.3g} (dip of principal components)"
    yield f"one by one  p = {facts['columns_p_value']:.3g} (dip of each column)"
    yield f"distances   p = {facts['distances_p_value']:.3g} (dip of distances between rows)"
    yield (
        f"replay      p = {facts['replay_p_value']:.3g} (k-means against rows without structure)"
    )
    yield f"Hopkins     {facts['hopkins']:.3g} (for information; 0.5 where rows are uniform)"
    yield f"rows        {facts['rows_used']:,}, of which {facts['rows_compared']:,} were compared"
    yield f"columns     {', '.join(facts['columns'])}"
