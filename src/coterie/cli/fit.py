"""``coterie fit``: cluster a table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._options import (
    Data,
    Decimal,
    Header,
    check_options,
    check_rows,
    given,
    names,
    number_or_auto,
)
from coterie.cli._outputs import refuse_overwriting, staged, summary, write_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from coterie.cli._methods import Found
    from coterie.data.tables import Table

LABELS, MODEL, PICTURE = "labels.csv", "model.coterie", "clusters.png"
TREE = "dendrogram.png"  # of methods that build one


def fit(
    data: Data,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", help="Number of clusters; of bayesian, at most.", min=1),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="How to cluster: kmeans, gaussian, agglomerative, dbscan, hdbscan, student-t, "
            "bayesian, bernoulli, poisson, categorical or mixed."
        ),
    ] = "kmeans",
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, such as a,b; all that suit by default.")
    ] = None,
    without: Annotated[str | None, typer.Option(help="Columns to leave out, such as a,b.")] = None,
    categorical: Annotated[
        str | None,
        typer.Option(help="Columns of numbers that are names, for mixed and categorical."),
    ] = None,
    scale: Annotated[
        bool | None, typer.Option("--scale/--no-scale", help="Standardise the columns first.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Directory for the results.")
    ] = Path("coterie-out"),
    init: Annotated[str | None, typer.Option(help="How to begin; the method's own way.")] = None,
    n_init: Annotated[
        int | None, typer.Option(help="Restarts, 10 by default; the best is kept.", min=1)
    ] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations, at most.", min=1)] = None,
    covariance: Annotated[
        str | None,
        typer.Option(help="Of gaussian, student-t, bayesian: full, tied, diag or spherical."),
    ] = None,
    linkage: Annotated[
        str | None, typer.Option(help="Of agglomerative: ward, average, complete, single ...")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Of dbscan, hdbscan, agglomerative: euclidean ...")
    ] = None,
    eps: Annotated[
        str | None, typer.Option(help="Of dbscan: the radius, or auto, the default.")
    ] = None,
    min_samples: Annotated[
        int | None, typer.Option(help="Of dbscan, hdbscan: rows that make a core row.", min=1)
    ] = None,
    min_cluster_size: Annotated[
        str | None, typer.Option(help="Of hdbscan: rows that make a cluster, or auto.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Of bernoulli: larger values count as 1, others as 0.")
    ] = None,
    fractions: Annotated[
        bool | None,
        typer.Option("--fractions", help="Of poisson: take fractions, such as averaged counts."),
    ] = None,
    decimal: Decimal = None,
    header: Header = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads to use; all by default.", min=1)
    ] = None,
) -> None:
    """Cluster the rows of a table and write labels, model and picture."""
    from coterie._files import save_model
    from coterie.cli._methods import METHODS, Choices
    from coterie.cli._scaling import column_scaling, in_own_units, standardized
    from coterie.cli._summary import report
    from coterie.cli._wording import Wording
    from coterie.data.tables import STDIN, read_table
    from coterie.plots import save_dendrogram

    if method not in METHODS:
        raise ValueError(f"no method {method!r}; the methods are: {', '.join(METHODS)}.")
    way = METHODS[method]
    own = given(
        clusters=n_clusters, init=init, n_init=n_init, max_iter=max_iter, covariance=covariance,
        linkage=linkage, metric=metric, eps=number_or_auto("--eps", eps, float),
        min_samples=min_samples,
        min_cluster_size=number_or_auto("--min-cluster-size", min_cluster_size, int),
        categorical=categorical, threshold=threshold, fractions=fractions,
    )  # fmt: skip
    check_options(method, own, scale, decimal)
    if str(output) == STDIN:
        raise ValueError("-o - was asked for, but fit writes several files; name a directory.")
    from_stdin = str(data) == STDIN
    title = "stdin" if from_stdin else data.name
    files = (LABELS, MODEL, PICTURE, TREE) if way.has_tree else (LABELS, MODEL, PICTURE)
    outputs = [output / file for file in files]
    refuse_overwriting([] if from_stdin else [data], outputs)

    with staged(output) as stage:
        table = read_table(
            data,
            None if columns is None else names(columns),
            without=names(without),
            missing=way.takes_missing,
            text=way.takes_text,
            categorical=names(categorical),
            decimal=decimal,
            header=header,
        )
        for note in table.notes:
            _warn(note)
        check_rows(method, len(table.values), n_clusters)
        wording = Wording(method, table.names)
        scaling = column_scaling(table) if way.scales and scale is not False else None
        rows = standardized(table.values, scaling)

        with (
            _progress(method, n_init or 10) as callback,
            _warnings_in_a_line(wording),
            wording.of_errors(),
        ):
            choices = Choices(seed, threads, callback, own)
            units = "raw units" if scaling is None else "standardized units"
            found = way.fit(rows, choices, units)

        write_labels(stage / LABELS, found.labels)
        save_model(stage / MODEL, found.model, columns=list(table.names), scaling=scaling)
        centers = in_own_units(found.centers, scaling)
        with _warnings_in_a_line():
            _draw(stage / PICTURE, title, table, rows, found, centers)
            if way.has_tree:
                save_dendrogram(stage / TREE, found.model, title=f"{title}: the last merges")
    with summary():
        report(table, found, centers, [wording(note) for note in found.notes], outputs)


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
def _warnings_in_a_line(wording: Callable[[str], str] = str) -> Iterator[None]:
    """Show each warning meant for users as one line on stderr, in these words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        _warn(wording(str(warning.message)))


def _warn(message: str) -> None:
    print("coterie: warning:", " ".join(message.split()), file=sys.stderr)


def _draw(
    path: Path,
    title: str,
    table: Table,
    rows: npt.NDArray[Any],
    found: Found,
    centers: npt.NDArray[Any],
) -> None:
    """The scatter plot: one or two columns in their own units, more as they were clustered."""
    from coterie.cli._coordinates import coordinates
    from coterie.plots import save_scatter

    title = f"{title}: {len(centers)} cluster{'' if len(centers) == 1 else 's'}"
    if rows.dtype == object:
        save_scatter(path, coordinates(rows), found.labels, title=title)
        return
    drawn: npt.NDArray[Any] | None = found.centers
    if len(table.names) <= 2:
        rows, drawn = table.values, centers
    if drawn is not None and drawn.dtype == object:
        drawn = None
    save_scatter(path, rows, found.labels, drawn, feature_names=table.names, title=title)
