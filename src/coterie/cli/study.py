"""``coterie study``: from a raw table to a report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    Seed,
    Strict,
    Threads,
    Without,
    check_decimal,
    names,
    title_of,
)
from coterie.cli._outputs import refuse_overwriting, staged, summary
from coterie.cli._stdin import as_files

if TYPE_CHECKING:
    from coterie.report import Study
    from coterie.report._given import Given

PAGE, MODEL, FACTS = "report.html", "model.coterie", "study.json"


def study(
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Directory for the results; NAME-study by default."),
    ] = None,
    time: Annotated[
        float, typer.Option(help="Budget in seconds; it sets how much is tried.", min=1)
    ] = 60,
    seed: Seed = 0,
    labels: Annotated[
        str, typer.Option(help="File of the labels, by its name CSV or Parquet.")
    ] = "labels.csv",
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
    columns: Columns = None,
    without: Without = None,
    decimal: Decimal = None,
    header: Header = None,
    query: Annotated[
        str | None,
        typer.Option(help="Rows of the database DATA to study, such as 'SELECT * FROM orders'."),
    ] = None,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Study a raw table: are there clusters, which, what do they mean, can they be trusted?"""
    from coterie.cli._study_files import LABELS_ENDS, write_labels_table
    from coterie.data.streams import files_of
    from coterie.report import study as run
    from coterie.report._given import read_places
    from coterie.report.render_json import dumps

    check_decimal(decimal)
    if Path(labels).suffix.lower() not in LABELS_ENDS or Path(labels).name != labels:
        raise ValueError(
            f"--labels {labels!r} was given; use a name that ends in {' or '.join(LABELS_ENDS)}."
        )
    title = title_of(data)
    folder = Path(f"{Path(title).stem}-study") if output is None else output
    files = (PAGE, labels, MODEL, FACTS)
    refuse_overwriting([Path(file) for file in files_of(data)], [folder / name for name in files])
    with limited(threads, max_memory), as_files(data) as places, staged(folder) as stage:
        with _progress(quiet=quiet or as_json) as callback:
            given = read_places(
                places, asked=data, decimal=decimal, header=header, query=query
            )  # fmt: skip
            found = run(
                given, random_state=seed, time=time, without=_set_aside(given, columns, without),
                n_threads=threads, callback=callback,
            )  # fmt: skip
        page_there = _write_page(stage / PAGE, found)
        write_labels_table(stage / labels, found)
        found.model.save(stage / MODEL)
        (stage / FACTS).write_text(dumps(found.to_dict()), encoding="utf-8")
    if not quiet:
        with summary():
            _tell(found, folder, [name for name in files if name != PAGE or page_there], as_json)
    if strict and not found.has_structure:
        raise typer.Exit(1)


def _set_aside(given: Given, columns: str | None, without: str | None) -> list[str]:
    """The columns to set aside: those named, and all others where some were chosen."""
    from coterie.report._given import check_set_aside

    aside, chosen = names(without), names(columns)
    check_set_aside(given, [*chosen, *aside])
    others = [name for name in given.table.names if chosen and name not in chosen]
    return list(dict.fromkeys([*aside, *others]))


def _write_page(path: Path, found: Study) -> bool:
    """The page, where what draws it is installed; whether it is."""
    try:
        found.to_html(path)
    except ImportError as error:
        name = error.name or "coterie[report]"
        print(
            f"coterie: no {path.name}: it needs {name}: pip install 'coterie[report]'",
            file=sys.stderr,
        )
        return False
    return True


def _tell(found: Study, folder: Path, names: list[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps({key: found.summary[key] for key in _FACTS}))
        return
    print(found)
    print()
    for name in names:
        print(f"written     {folder / name}")


#: What --json prints; study.json has everything.
_FACTS = (
    "title", "source", "settings", "verdict", "columns", "notes", "quality", "tendency", "methods",
    "clusters", "sensitivity", "reproduce",
)  # fmt: skip


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A callback that moves a bar on stderr, a step a stage; None when nobody is looking."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description:<12}"), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1)

        def show(now: Any) -> None:
            bar.update(
                task, completed=now.done, total=now.n_stages, description=now.stage, refresh=True
            )  # fmt: skip

        yield show
