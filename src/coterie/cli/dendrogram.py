"""``coterie dendrogram``: the tree of merges, drawn, written down or cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._options import (
    Columns,
    Data,
    Decimal,
    Header,
    Json,
    Linkage,
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
from coterie.cli._stdin import as_files

_PICTURES = (".png", ".svg", ".pdf")
_TREES = (".nwk", ".newick", ".tree")
_TABLES = (".csv", ".tsv", ".parquet", ".npy")
#: Leaves that a picture shows unless asked otherwise.
_LAST = 40


def dendrogram(
    data: Data,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            help="A file, by its name a picture (.png, .svg, .pdf), a tree (.nwk, .newick, .tree) "
            "or the table of merges (.csv, .tsv, .parquet, .npy); several may be given; - for "
            "Newick on stdout.",
        ),
    ] = None,
    linkage: Linkage = "ward",
    metric: Metric = None,
    n_clusters: Annotated[
        int | None, typer.Option("-k", "--clusters", help="Cut into so many clusters.", min=1)
    ] = None,
    height: Annotated[float | None, typer.Option(help="Cut at this height.", min=0)] = None,
    labels: Annotated[
        Path | None, typer.Option(help="File for the labels of the cut, by its name CSV or NPY.")
    ] = None,
    names: Annotated[
        str | None, typer.Option(help="Column with the names of the rows, which is not clustered.")
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(help=f"Leaves of the picture; {_LAST} by default, all of fewer.", min=2),
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
    """Join the nearest rows and clusters until one is left: draw the tree, write it, or cut it."""
    from coterie.cli._asked_rows import asked_rows
    from coterie.cli._fits import warn_of_equal_rows
    from coterie.cli._label_files import Tally, write_labels
    from coterie.cli._one_column import column_of
    from coterie.cli._telling import tell, warnings_in_a_line
    from coterie.data.streams import files_of
    from coterie.hierarchy import AgglomerativeClustering

    if n_clusters is not None and height is not None:
        raise ValueError(f"-k {n_clusters} and --height {height} were given; one says where.")
    if labels is not None and n_clusters is None and height is None:
        raise ValueError(f"--labels {labels} was given; say where to cut, by -k or --height.")
    asked = output or []
    ends = [_TREES[0] if str(path) == "-" else ending("-o", path, (*_PICTURES, *_TREES, *_TABLES))
            for path in asked]  # fmt: skip
    outputs = [as_output(path) for path in asked]
    all_outputs = outputs if labels is None else [*outputs, as_output(labels)]
    if len({path.absolute() for path in all_outputs}) < len(all_outputs):
        raise ValueError("a file was named twice among -o and --labels; name different ones.")
    check_outputs([Path(file) for file in files_of(data)], all_outputs)
    with (
        limited(threads, max_memory) as most_bytes,
        as_files(data, text=names is not None) as places,
        asked_rows(
            places, "agglomerative", columns, _and(without, names), scale=scale, decimal=decimal,
            header=header, most_bytes=most_bytes, metric=metric, taking="--metric gower",
            taking_text="--metric gower",
        ) as given,
        warnings_in_a_line(given.wording),
        given.wording.of_errors(),
    ):  # fmt: skip
        leaves = None if names is None else column_of(places, names, decimal, header).tolist()
        n_rows = len(given.rows)
        if n_rows < 2:
            raise ValueError("the table has 1 row, and a tree joins at least 2; give more rows.")
        if n_clusters is not None and n_clusters > n_rows:
            raise ValueError(
                f"-k {n_clusters} was given, but the table has {n_rows:,} rows; lower -k."
            )
        model = AgglomerativeClustering(
            n_clusters=n_clusters or 1, linkage=linkage, metric=metric or "euclidean"
        ).fit(given.rows)
        warn_of_equal_rows(model)
        found = None
        if n_clusters is not None or height is not None:
            found = model.cut(n_clusters, height=height)
        draw = partial(
            _draw, model=model, leaves=leaves, title=title_of(data), last=last,
            n_clusters=n_clusters, height=height,
        )  # fmt: skip
        writers: dict[Path, Callable[[Path], None]] = {
            path: partial(_write, end=end, Z=model.Z_, leaves=leaves, draw=draw)
            for path, end in zip(outputs, ends, strict=True)
        }
        tally = Tally()
        if found is not None:
            counted = list(tally.passing(found))
            if labels is not None:
                writers[as_output(labels)] = partial(write_labels, labels=iter(counted))
        write_files(writers)
    facts = {
        "linkage": linkage,
        "metric": metric or "euclidean",
        "rows": n_rows,
        "columns": given.names,
        "units": given.units,
        "top": float(model.Z_[:, 2].max()),
        "last_merges": model.Z_[: -11 if n_rows > 11 else None : -1, 2].tolist(),
        "n_clusters": None if found is None else len(tally.sizes()),
        "sizes": None if found is None else tally.sizes(),
        "written": [named(path) for path in all_outputs],
    }
    aside = any(map(is_stdout, all_outputs))
    tell(facts, partial(_lines, facts), as_json=as_json, quiet=quiet, aside=aside)


def _and(without: str | None, names: str | None) -> str | None:
    """Columns to leave out, and the column of names."""
    if names is None:
        return without
    quoted = '"' + names.replace('"', '""') + '"'
    return quoted if without is None else f"{without},{quoted}"


def _draw(
    path: Path, *, model: Any, leaves: Sequence[Any] | None, title: str, last: int | None,
    n_clusters: int | None, height: float | None,
) -> None:  # fmt: skip
    from coterie.plots import save_dendrogram

    few = len(model.Z_) < _LAST and last is None
    names = None if leaves is None else [str(leaf) for leaf in leaves]
    save_dendrogram(
        path, model.Z_, last=None if few else min(last or _LAST, len(model.Z_) + 1), title=title,
        labels=names, n_clusters=n_clusters, height=height,
    )  # fmt: skip


def _write(
    path: Path, *, end: str, Z: Any, leaves: Sequence[Any] | None, draw: Callable[[Path], None]
) -> None:
    """A picture, a tree or a table, by the end of the name."""
    from coterie.cli._outputs import array_writer
    from coterie.data.written import write_columns
    from coterie.hierarchy import newick

    if end in _TREES:
        path.write_text(newick(Z, leaves) + "\n", encoding="utf-8")
    elif end == ".npy":
        array_writer(Z)(path)
    elif end in _PICTURES:
        draw(path)
    else:
        columns = {"left": Z[:, 0].astype(int), "right": Z[:, 1].astype(int), "height": Z[:, 2],
                   "rows": Z[:, 3].astype(int)}  # fmt: skip
        write_columns(path, columns)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    from coterie.cli._summary import entry

    yield f"rows        {facts['rows']:,}"
    yield f"columns     {', '.join(facts['columns'])}"
    yield f"linkage     {facts['linkage']}, {facts['metric']}"
    shown = ", ".join(f"{height:.6g}" for height in facts["last_merges"])
    yield entry("last merges", f"{shown} ({facts['units']})".split(" "))
    if facts["sizes"] is not None:
        sizes = ", ".join(f"{size:,}" for size in facts["sizes"])
        yield entry("clusters", f"{facts['n_clusters']:,}, of {sizes} rows".split(" "))
    if facts["written"]:
        yield f"written     {', '.join(facts['written'])}"
