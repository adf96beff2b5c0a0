"""``coterie fit``: cluster a table."""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._outputs import refuse_overwriting, staged, summary, write_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from coterie.cli._methods import Found
    from coterie.cli._scaling import Scaling
    from coterie.data.tables import Table

LABELS, MODEL, PICTURE = "labels.csv", "model.coterie", "clusters.png"
TREE = "dendrogram.png"  # of methods that build one


def fit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV or NPY file.")],
    n_clusters: Annotated[
        int | None, typer.Option("-k", "--clusters", help="Number of clusters.", min=1)
    ] = None,
    method: Annotated[
        str, typer.Option(help="How to cluster: kmeans, gaussian or agglomerative.")
    ] = "kmeans",
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, such as a,b; all numeric ones by default.")
    ] = None,
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", help="Standardise the columns first.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Directory for the results.")
    ] = Path("coterie-out"),
    init: Annotated[str | None, typer.Option(help="How to begin; the method's own way.")] = None,
    linkage: Annotated[
        str | None, typer.Option(help="Of agglomerative: ward, average, complete, single ...")
    ] = None,
    n_init: Annotated[int, typer.Option(help="Restarts; the best is kept.", min=1)] = 10,
    threads: Annotated[
        int | None, typer.Option(help="Threads to use; all by default.", min=1)
    ] = None,
) -> None:
    """Cluster the rows of a table and write labels, model and picture."""
    from coterie._files import save_model
    from coterie.cli._methods import METHODS, Choices
    from coterie.cli._scaling import column_scaling, standardized
    from coterie.data.tables import read_table
    from coterie.plots import save_dendrogram

    if method not in METHODS:
        raise ValueError(f"no method {method!r}; the methods are: {', '.join(METHODS)}.")
    if n_clusters is None:
        raise ValueError(f"{method} needs the number of clusters, such as -k 3.")
    has_tree = method == "agglomerative"
    _refuse_of_others(has_tree, method, init, linkage)
    names = (LABELS, MODEL, PICTURE, TREE) if has_tree else (LABELS, MODEL, PICTURE)
    outputs = [output / name for name in names]
    refuse_overwriting([data], outputs)

    with staged(output) as stage:
        table = read_table(data, None if columns is None else next(csv.reader([columns])))
        scaling = column_scaling(table) if scale else None
        rows = standardized(table.values, scaling)

        with _progress(method, n_init) as callback, _warnings_in_a_line():
            choices = Choices(n_clusters, init, n_init, seed, threads, callback, linkage or "ward")
            units = "raw units" if scaling is None else "standardized units"
            found = METHODS[method](rows, choices, units)

        write_labels(stage / LABELS, found.labels)
        save_model(stage / MODEL, found.model, columns=list(table.names), scaling=scaling)
        _draw(stage / PICTURE, data.name, table, rows, found, scaling)
        if has_tree:
            save_dendrogram(stage / TREE, found.model, title=f"{data.name}: the last merges")
    with summary():
        _report(table, found, scaling, outputs)


def _refuse_of_others(has_tree: bool, method: str, init: str | None, linkage: str | None) -> None:
    """Refuse an option that the method does not have."""
    if has_tree and init is not None:
        raise ValueError(f"{method} has no --init, and {init!r} was given; leave it out.")
    if not has_tree and linkage is not None:
        raise ValueError(
            f"{method} has no --linkage, and {linkage!r} was given; leave it out or use "
            "--method agglomerative."
        )


@contextmanager
def _progress(method: str, n_init: int) -> Iterator[Callable[[Any], None] | None]:
    """A callback that moves a bar on stderr; None when nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # No remaining time: most runs settle long before max_iter.
    parts = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(method, total=n_init)

        def show(now: Any) -> None:
            bar.update(
                task,
                completed=now.restart + now.iteration / now.max_iter,
                description=f"run {now.restart + 1}/{now.n_init}, iteration {now.iteration}, "
                f"objective {now.objective:.6g}",
            )

        yield show


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show each warning meant for users as one line on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        print("coterie: warning:", " ".join(str(warning.message).split()), file=sys.stderr)


def _draw(
    path: Path,
    name: str,
    table: Table,
    rows: npt.NDArray[Any],
    found: Found,
    scaling: Scaling | None,
) -> None:
    """The scatter plot: one or two columns in their own units, more as they were clustered."""
    from coterie.cli._scaling import in_own_units
    from coterie.plots import save_scatter

    centers = found.centers
    if len(table.names) <= 2:
        rows, centers = table.values, in_own_units(centers, scaling)
    save_scatter(
        path,
        rows,
        found.labels,
        centers,
        feature_names=table.names,
        title=f"{name}: {len(centers)} clusters",
    )


def _report(table: Table, found: Found, scaling: Scaling | None, outputs: list[Path]) -> None:
    """What was found, on stdout."""
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from sklearn.utils import gen_batches

    from coterie.cli._scaling import in_own_units

    n_rows = len(table.values)
    # A batch at a time: bincount makes a copy of what it counts.
    batches = gen_batches(n_rows, 1 << 18)
    n_clusters = len(found.centers)
    counts = [np.bincount(found.labels[batch], minlength=n_clusters) for batch in batches]
    sizes = np.sum(counts, axis=0)
    grid = Grid("cluster", box=box.SIMPLE_HEAD)
    for title in ("rows", "share", *table.names):
        grid.add_column(title, justify="right", overflow="fold")
    centers = in_own_units(found.centers, scaling)
    for cluster, (size, center) in enumerate(zip(sizes, centers, strict=True)):
        numbers = [f"{value:.6g}" for value in center]
        grid.add_row(str(cluster), f"{size:,}", f"{size / n_rows:.1%}", *numbers)

    # Into a pipe or a file a table may be as wide as it needs to be.
    console = Console(
        width=None if sys.stdout.isatty() else 100_000, highlight=False, markup=False, emoji=False
    )
    console.print(f"rows        {n_rows:,}")
    console.print(f"columns     {', '.join(table.names)}")
    if table.skipped:
        console.print(f"skipped     {', '.join(table.skipped)} (not numeric, or without a name)")
    console.print(grid)
    for name, fact in found.facts.items():
        console.print(f"{name:<11} {fact}", soft_wrap=True)
    console.print(f"written     {', '.join(map(str, outputs))}", soft_wrap=True)
