"""``coterie fit``: cluster a table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._options import (
    Dask,
    Data,
    Decimal,
    Header,
    MaxMemory,
    check_options,
    check_rows,
    given,
    kinds_of,
    memory_limited,
    names,
    number_or_auto,
    title_of,
)
from coterie.cli._outputs import Tally, refuse_overwriting, staged, summary, write_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from coterie.cli._given import Drawn
    from coterie.cli._methods import Found

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
            help="How to cluster: kmeans, kmedoids, kcenter, leader, gaussian, agglomerative, "
            "dbscan, hdbscan, student-t, bayesian, bernoulli, poisson, categorical or mixed."
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
        str | None,
        typer.Option(help="Of agglomerative: ward, average, complete, single, genie ..."),
    ] = None,
    gini_threshold: Annotated[
        float | None,
        typer.Option(help="Of agglomerative with genie: how unequal clusters may be, 0 to 1."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Of kmedoids, kcenter, leader, agglomerative, dbscan, hdbscan: euclidean ..."
        ),
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
        float | None,
        typer.Option(
            help="Of leader: how near is near, 1 by default; of bernoulli: larger values count "
            "as 1, others as 0."
        ),
    ] = None,
    fractions: Annotated[
        bool | None,
        typer.Option("--fractions", help="Of poisson: take fractions, such as averaged counts."),
    ] = None,
    decimal: Decimal = None,
    header: Header = None,
    max_memory: MaxMemory = None,
    dask: Dask = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads to use; all by default.", min=1)
    ] = None,
) -> None:
    """Cluster the rows of a table and write labels, model and picture."""
    from coterie._files import save_model
    from coterie.cli._given import Streamed, read_by_cluster
    from coterie.cli._given import given as given_rows
    from coterie.cli._methods import METHODS, Choices, restarts
    from coterie.cli._scaling import in_own_units
    from coterie.cli._summary import report
    from coterie.cli._wording import Wording
    from coterie.data.streams import files_of
    from coterie.data.tables import STDIN
    from coterie.plots import save_dendrogram

    if method not in METHODS:
        raise ValueError(f"no method {method!r}; the methods are: {', '.join(METHODS)}.")
    way = METHODS[method]
    own = given(
        clusters=n_clusters, init=init, n_init=n_init, max_iter=max_iter, covariance=covariance,
        linkage=linkage, gini_threshold=gini_threshold, metric=metric,
        eps=number_or_auto("--eps", eps, float), min_samples=min_samples,
        min_cluster_size=number_or_auto("--min-cluster-size", min_cluster_size, int),
        categorical=categorical, threshold=threshold, fractions=fractions,
    )  # fmt: skip
    check_options(method, own, scale, decimal)
    if dask is not None and not way.takes_clusters:
        ways = ", ".join(name for name, other in METHODS.items() if other.takes_clusters)
        raise ValueError(
            f"{method} needs all rows in one place, and --dask {dask} was given; leave it out, or "
            f"use one of the methods {ways}."
        )
    if str(output) == STDIN:
        raise ValueError("-o - was asked for, but fit writes several files; name a directory.")
    title = title_of(data)
    files = (LABELS, MODEL, PICTURE, TREE) if way.has_tree else (LABELS, MODEL, PICTURE)
    outputs = [output / file for file in files]
    refuse_overwriting([Path(file) for file in files_of(data)], outputs)

    with memory_limited(max_memory) as most_bytes, staged(output) as stage, ExitStack() as stack:
        scales = way.scales and scale is not False
        table = given_rows(
            data,
            method,
            None if columns is None else names(columns),
            without=names(without),
            categorical=names(categorical),
            decimal=decimal,
            header=header,
            most_bytes=most_bytes,
            scale=scales,
            on_cluster=dask is not None,
        )
        for note in table.notes:
            _warn(note)
        if categorical is not None:
            own["categorical"] = kinds_of(table.names, names(categorical))
        wording = Wording(method, table.names)
        with _warnings_in_a_line(wording), wording.of_errors():
            if dask is not None and isinstance(table, Streamed):
                table = stack.enter_context(read_by_cluster(table, data, dask))
            scaling = table.scaling() if scales else None
            check_rows(method, table.n_rows, n_clusters)
            rows = table.rows(scaling)

        with (
            _progress(method, n_init or restarts(rows)) as callback,
            _warnings_in_a_line(wording),
            wording.of_errors(),
        ):
            choices = Choices(seed, threads, callback, own)
            units = "raw units" if scaling is None else "standardized units"
            found = way.fit(rows, choices, units)

            tally = Tally()
            write_labels(stage / LABELS, tally.passing(found.labels))
        save_model(stage / MODEL, found.model, columns=list(table.names), scaling=scaling)
        centers = in_own_units(found.centers, scaling)
        with _warnings_in_a_line():
            drawn = table.drawn(rows, found, scaling, seed)
            _draw(stage / PICTURE, title, table.names, drawn, found, centers)
            if way.has_tree:
                save_dendrogram(stage / TREE, found.model, title=f"{title}: the last merges")
    with summary():
        report(table, found, tally, centers, [wording(note) for note in found.notes], outputs)


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
    names: Sequence[str],
    drawn: Drawn,
    found: Found,
    centers: npt.NDArray[Any],
) -> None:
    """The scatter plot: one or two columns in their own units, more as they were clustered."""
    from coterie.cli._coordinates import coordinates
    from coterie.plots import save_scatter

    title = f"{title}: {len(centers)} cluster{'' if len(centers) == 1 else 's'}{drawn.words}"
    if drawn.rows.dtype == object:
        save_scatter(path, coordinates(drawn.rows), drawn.labels, title=title)
        return
    rows, middles = (drawn.values, centers) if len(names) <= 2 else (drawn.rows, found.centers)
    shown = None if middles.dtype == object else middles
    save_scatter(path, rows, drawn.labels, shown, feature_names=names, title=title)
