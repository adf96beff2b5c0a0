"""``coterie eps``: which radius for DBSCAN?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    Metric,
    Quiet,
    Scale,
    Threads,
    Without,
    ending,
    title_of,
)
from coterie.cli._outputs import as_output, check_outputs, is_stdout, named, write_files

if TYPE_CHECKING:
    from coterie.select import EpsSuggestion

_PICTURES = (".png", ".svg", ".pdf")
_CURVES = (".csv", ".tsv", ".parquet", ".npy")
#: Parts of the rows at which the curve is shown.
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def eps(
    data: Data,
    min_samples: Annotated[
        int | None,
        typer.Option(help="Rows that make a core row; suited to the table by default.", min=2),
    ] = None,
    metric: Metric = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The curve, by its name a picture (.png, .svg, .pdf) or its numbers (.csv, .tsv, "
            ".parquet, .npy); - for CSV on stdout.",
        ),
    ] = None,
    columns: Columns = None,
    without: Without = None,
    scale: Scale = True,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Recommend eps for DBSCAN: the k-distances, their knee, and the range in which clusters last.

    A radius is in the units that are clustered: `coterie fit --method dbscan` takes it as it is.
    """
    from coterie.cli._asked_rows import asked_rows
    from coterie.cli._telling import tell
    from coterie.data.streams import files_of
    from coterie.select import suggest_eps

    end = None
    if output is not None:
        end = ".csv" if str(output) == "-" else ending("-o", output, (*_PICTURES, *_CURVES))
        output = as_output(output)
        check_outputs([Path(file) for file in files_of(data)], [output])
    with (
        limited(threads, max_memory) as most_bytes,
        asked_rows(
            data, "dbscan", columns, without, scale=scale, decimal=decimal, header=header,
            most_bytes=most_bytes, metric=metric, taking="--metric gower",
            taking_text="--metric gower",
        ) as given,
    ):  # fmt: skip
        if len(given.rows) < 2:
            raise ValueError("the table has 1 row, and at least 2 are needed; give more rows.")
        with given.wording.of_errors(), _in_words():
            found = suggest_eps(given.rows, min_samples, metric=metric or "euclidean")
        if output is not None and end is not None:
            write_files({output: partial(_write, end=end, found=found, title=title_of(data))})
    facts = _facts(found, given.names, given.units, output)
    aside = output is not None and is_stdout(output)
    tell(facts, partial(_lines, facts, found), as_json=as_json, quiet=quiet, aside=aside)


@contextmanager
def _in_words() -> Iterator[None]:
    """Errors of `suggest_eps` where nobody can give an eps."""
    try:
        yield
    except ValueError as error:
        said = str(error).removeprefix("suggest_eps: ")
        if "no distance tells an eps" in said:
            copies = said.partition("no distance tells")[0]
            said = f"{copies}no distance tells a radius; drop the copies, or give rows that differ."
        raise ValueError(said) from error


def _write(path: Path, *, end: str, found: EpsSuggestion, title: str) -> None:
    """The curve as a picture, or its numbers: sorted distances, as many as rows."""
    from coterie.cli._outputs import array_writer
    from coterie.data.written import write_columns
    from coterie.plots import save_k_distances

    if end in _PICTURES:
        made = path.with_name(f"curve{end}")
        save_k_distances(made, found, title=title)
        made.rename(path)
    elif end == ".npy":
        array_writer(found.curve)(path)
    else:
        made = path.with_name(f"curve{end}")
        write_columns(made, {"distance": found.curve})
        made.rename(path)


def _facts(
    found: EpsSuggestion, names: list[str], units: str, output: Path | None
) -> dict[str, Any]:
    """What was found, in numbers."""
    level = found.level
    return {
        "eps": found.eps,
        "min_samples": found.min_samples,
        "has_knee": found.has_knee,
        "knee": found.knee,
        "strength": found.strength,
        "level": None if level is None else [level.low, level.high],
        "reason": found.reason,
        "rows": len(found.curve),
        "columns": names,
        "units": units,
        "curve": {f"{share:.0%}": _at(found, share) for share in _SHARES},
        "written": None if output is None else named(output),
    }


def _at(found: EpsSuggestion, share: float) -> float:
    """The distance that such a share of the rows stays below."""
    return float(found.curve[max(0, round(share * len(found.curve)) - 1)])


def _lines(facts: dict[str, Any], found: EpsSuggestion) -> Iterator[str]:
    """The facts for people."""
    from coterie.cli._summary import entry

    yield f"eps         {facts['eps']:.6g} ({facts['units']})"
    yield f"min_samples {facts['min_samples']}"
    knee = "none" if facts["knee"] is None else f"at row {facts['knee'] + 1:,}"
    yield f"knee        {knee}, strength {facts['strength']:.2f}"
    level = facts["level"]
    yield f"level       {'none' if level is None else f'{level[0]:.6g} to {level[1]:.6g}'}"
    yield entry("why", facts["reason"].split(" "))
    yield ""
    yield f"  rows   distance to neighbour {facts['min_samples'] - 1}, at most"
    for share, distance in facts["curve"].items():
        yield f"  {share:>4}   {distance:.6g}"
    yield ""
    yield f"rows        {facts['rows']:,}"
    yield f"columns     {', '.join(facts['columns'])}"
    if facts["written"] is not None:
        yield f"written     {facts['written']}"
