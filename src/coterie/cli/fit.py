"""``coterie fit``: cluster a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._method_options import check_options, check_rows, kinds_of
from coterie.cli._options import (
    COVARIANCES,
    LINKAGES,
    METHOD_NAMES,
    SEARCHES,
    Columns,
    Dask,
    Data,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Metric,
    Quiet,
    Seed,
    Threads,
    Without,
    check_decimal,
    completing,
    given,
    names,
    number_or_auto,
    title_of,
)
from coterie.cli._outputs import refuse_overwriting, staged
from coterie.cli._stdin import STDIN, as_files, check_there


def fit(
    data: Data,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", help="Number of clusters; of bayesian, at most.", min=1),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"How to cluster: {', '.join(METHOD_NAMES)}.",
            autocompletion=completing(METHOD_NAMES),
        ),
    ] = "kmeans",
    columns: Columns = None,
    without: Without = None,
    categorical: Annotated[
        str | None,
        typer.Option(
            help="Columns of numbers that are names, for mixed, categorical and --metric gower."
        ),
    ] = None,
    scale: Annotated[
        bool | None, typer.Option("--scale/--no-scale", help="Standardise the columns first.")
    ] = None,
    seed: Seed = 0,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Directory for the results; - for the labels alone, on stdout."
        ),
    ] = Path("coterie-out"),
    init: Annotated[str | None, typer.Option(help="How to begin; the method's own way.")] = None,
    n_init: Annotated[
        int | None, typer.Option(help="Restarts, 10 by default; the best is kept.", min=1)
    ] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations, at most.", min=1)] = None,
    tol: Annotated[
        float | None, typer.Option(help="Of k-means and mixtures: when to stop.", min=0)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Of minibatch: rows per step.", min=1)
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Of bisecting: biggest_inertia or largest_cluster, which is split next.",
            autocompletion=completing(("biggest_inertia", "largest_cluster")),
        ),
    ] = None,
    branching: Annotated[
        int | None, typer.Option(help="Of hierarchical: children per node; 32.", min=2)
    ] = None,
    depth: Annotated[int | None, typer.Option(help="Of hierarchical: levels; 3.", min=1)] = None,
    covariance: Annotated[
        str | None,
        typer.Option(
            help=f"Of gaussian, student-t, bayesian: {', '.join(COVARIANCES)}.",
            autocompletion=completing(COVARIANCES),
        ),
    ] = None,
    noise: Annotated[
        bool | None,
        typer.Option(
            "--noise", help="Of gaussian, student-t: an even background, whose rows have label -1."
        ),
    ] = None,
    degrees_of_freedom: Annotated[
        float | None,
        typer.Option(help="Of student-t: few are heavy tails; estimated by default.", min=0.1),
    ] = None,
    concentration: Annotated[
        float | None,
        typer.Option(help="Of bayesian: prior of the weights; a small one empties components."),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            help=f"Of kmedoids: {', '.join(SEARCHES)}.", autocompletion=completing(SEARCHES)
        ),
    ] = None,
    linkage: Annotated[
        str | None,
        typer.Option(
            help=f"Of agglomerative: {', '.join(LINKAGES)}.", autocompletion=completing(LINKAGES)
        ),
    ] = None,
    gini_threshold: Annotated[
        float | None,
        typer.Option(help="Of agglomerative with genie: how unequal clusters may be, 0 to 1."),
    ] = None,
    height: Annotated[
        float | None, typer.Option(help="Of agglomerative, instead of -k: where to cut.", min=0)
    ] = None,
    compress: Annotated[
        int | None,
        typer.Option(
            help="Of agglomerative, approximate: join so many small clusters, not the rows.", min=1
        ),
    ] = None,
    metric: Metric = None,
    eps: Annotated[
        str | None, typer.Option(help="Of dbscan: the radius, or auto, the default.")
    ] = None,
    min_samples: Annotated[
        int | None, typer.Option(help="Of dbscan, hdbscan: rows that make a core row.", min=1)
    ] = None,
    min_cluster_size: Annotated[
        str | None, typer.Option(help="Of hdbscan: rows that make a cluster, or auto.")
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            help="Of hdbscan: eom or leaf, which clusters of the tree are taken.",
            autocompletion=completing(("eom", "leaf")),
        ),
    ] = None,
    allow_single_cluster: Annotated[
        bool | None,
        typer.Option("--allow-single-cluster", help="Of hdbscan: all rows may be one cluster."),
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
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
    dask: Dask = None,
) -> None:
    """Cluster the rows of a table and write labels, model and picture."""
    from coterie.cli._fit_files import LABELS, MODEL, PICTURE, TREE, write_model, write_tree
    from coterie.cli._fits import restarts
    from coterie.cli._found import Choices
    from coterie.cli._given import Streamed, read_by_cluster
    from coterie.cli._given import given as given_rows
    from coterie.cli._label_files import Tally, print_labels, write_labels
    from coterie.cli._methods import METHODS, way_of
    from coterie.cli._scaling import in_own_units
    from coterie.cli._summary import facts_of, lines_of
    from coterie.cli._telling import tell, warn, warnings_in_a_line
    from coterie.cli._wording import Wording
    from coterie.data.streams import files_of

    if method not in METHODS:
        raise ValueError(f"no method {method!r}; the methods are: {', '.join(METHODS)}.")
    way = way_of(method, metric)
    own = given(
        clusters=n_clusters, height=height, init=init, n_init=n_init, max_iter=max_iter, tol=tol,
        batch_size=batch_size, strategy=strategy, branching=branching, depth=depth,
        covariance=covariance, noise=noise, degrees_of_freedom=degrees_of_freedom,
        concentration=concentration, search=search, linkage=linkage,
        gini_threshold=gini_threshold, compress=compress, metric=metric,
        eps=number_or_auto("--eps", eps, float), min_samples=min_samples,
        min_cluster_size=number_or_auto("--min-cluster-size", min_cluster_size, int),
        selection=selection, allow_single_cluster=allow_single_cluster, categorical=categorical,
        threshold=threshold, fractions=fractions,
    )  # fmt: skip
    check_options(method, way, own, scale)
    check_decimal(decimal)
    if dask is not None and not way.takes_clusters:
        ways = ", ".join(name for name, other in METHODS.items() if other.takes_clusters)
        raise ValueError(
            f"{method} needs all rows in one place, and --dask {dask} was given; leave it out, or "
            f"use one of the methods {ways}."
        )
    taking = "a method that takes missing cells (gaussian, mixed, hdbscan)"
    taking_text = "a method that takes text (mixed, categorical)"
    if "metric" in way.options and method != "leader":
        taking, taking_text = f"--metric gower, or {taking}", f"--metric gower, or {taking_text}"
    to_stdout = str(output) == STDIN
    title = title_of(data)
    check_there(data)
    files = (LABELS, MODEL, PICTURE, TREE) if way.has_tree else (LABELS, MODEL, PICTURE)
    outputs = [] if to_stdout else [output / file for file in files]
    refuse_overwriting([Path(file) for file in files_of(data)], outputs)

    with (
        limited(threads, max_memory) as most_bytes,
        as_files(data, spool=dask is None) as places,
        nullcontext(None) if to_stdout else staged(output) as stage,
        ExitStack() as stack,
    ):
        scales = way.scales and scale is not False
        table: Any = given_rows(
            places,
            method,
            None if columns is None else names(columns),
            way=way,
            without=names(without),
            categorical=names(categorical),
            decimal=decimal,
            header=header,
            most_bytes=most_bytes,
            scale=scales,
            on_cluster=dask is not None,
            taking=taking,
            taking_text=taking_text,
        )
        for note in table.notes:
            warn(note)
        if categorical is not None:
            own["categorical"] = kinds_of(table.names, names(categorical))
        wording = Wording(method, table.names)
        with warnings_in_a_line(wording), wording.of_errors():
            if dask is not None and isinstance(table, Streamed):
                table = stack.enter_context(read_by_cluster(table, places, dask))
            scaling = table.scaling() if scales else None
            check_rows(method, way.least_rows, table.n_rows, n_clusters)
            rows = table.rows(scaling)

        tally = Tally()
        with (
            _progress(method, n_init or restarts(rows), quiet=quiet or as_json) as callback,
            warnings_in_a_line(wording),
            wording.of_errors(),
        ):
            choices = Choices(seed, threads, callback, own)
            units = "raw units" if scaling is None else "standardized units"
            found = way.fit(way, rows, choices, units)
            if stage is None:
                print_labels(tally.passing(found.labels))
            else:
                write_labels(stage / LABELS, tally.passing(found.labels))
        centers = in_own_units(found.centers, scaling)
        if stage is not None:
            write_model(stage, table, rows, found, scaling, centers, title, seed)
            if way.has_tree:
                write_tree(stage / TREE, found.model, title)
    notes = [wording(note) for note in found.notes]
    told = (table, found, tally, centers, notes, outputs)
    tell(
        facts_of(method, *told), partial(lines_of, *told), as_json=as_json, quiet=quiet,
        aside=to_stdout,
    )  # fmt: skip


@contextmanager
def _progress(method: str, n_init: int, *, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A callback that moves a bar on stderr; None when nobody is looking."""
    if quiet or not sys.stderr.isatty():
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
