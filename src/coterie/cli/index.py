"""``coterie index``: build an index of vectors, search it, say what it is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._examples import epilog
from coterie.cli._index_facts import Kind, compared_facts, index_facts, kind_of, tell_facts
from coterie.cli._index_rows import TextOptions, are_places, vectors_of
from coterie.cli._index_words import in_words, index_wording
from coterie.cli._limits import limited
from coterie.cli._options import (
    Columns,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Quiet,
    Threads,
    Without,
    names,
)
from coterie.cli._outputs import (
    array_writer,
    as_output,
    check_outputs,
    named,
    write_files,
)
from coterie.cli._stdin import check_there

if TYPE_CHECKING:
    from coterie.cli._index_rows import AnyIndex
    from coterie.data import Source

index = typer.Typer(help="Build an index of vectors, search it, say what it is.")


class Metric(StrEnum):
    """How near is measured."""

    EUCLIDEAN = "euclidean"
    SQEUCLIDEAN = "sqeuclidean"
    INNER_PRODUCT = "inner_product"
    COSINE = "cosine"


class Bits(StrEnum):
    """Of a part of a code."""

    FOUR = "4"
    EIGHT = "8"


Index = Annotated[Path, typer.Argument(metavar="INDEX", help="File of an index.")]

#: Which options are of which kinds only.
_ONLY = {
    "lists": [Kind.IVF], "nprobe": [Kind.IVF], "parts": [Kind.PQ, Kind.IVF],
    "bits": [Kind.PQ, Kind.IVF], "rotate": [Kind.PQ, Kind.IVF], "rerank": [Kind.PQ, Kind.IVF],
    "seed": [Kind.PQ, Kind.IVF],
}  # fmt: skip


@index.command(epilog=epilog("index build"))
def build(
    vectors: Annotated[
        list[str],
        typer.Argument(
            metavar="VECTORS",
            help="NPY, Parquet or CSV files, 'patterns' or directories, a vector per row; - for "
            "stdin.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File of the index; - for stdout.")
    ],
    kind: Annotated[
        Kind, typer.Option(help="flat: exact; pq: codes; ivf: codes in lists.")
    ] = Kind.FLAT,
    metric: Annotated[Metric, typer.Option(help="How near is measured.")] = Metric.EUCLIDEAN,
    columns: Columns = None,
    without: Without = None,
    parts: Annotated[
        int | None, typer.Option(help="Of pq and ivf: parts of a code; 8 by default.", min=1)
    ] = None,
    bits: Annotated[
        Bits | None, typer.Option(help="Of pq and ivf: bits of a part; 8 by default.")
    ] = None,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Of pq and ivf: rotate first, to find more neighbours.")
    ] = False,
    lists: Annotated[
        int | None, typer.Option(help="Of ivf: lists; about 2 sqrt(n) by default.", min=1)
    ] = None,
    nprobe: Annotated[
        int | None, typer.Option(help="Of ivf: lists that a query looks into; 8.", min=1)
    ] = None,
    rerank: Annotated[
        int | None,
        typer.Option(help="Of pq and ivf: keep the vectors; compare so many exactly.", min=1),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random numbers; 0 by default.", min=0)
    ] = None,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Build an index of vectors, under ids 0, 1, ... in their order."""
    from coterie.cli._telling import warnings_in_a_line
    from coterie.data.streams import files_of

    own = {"lists": lists, "nprobe": nprobe, "parts": parts, "bits": bits, "rerank": rerank,
           "rotate": rotate or None, "seed": seed}  # fmt: skip
    _check_options(kind, own)
    output = as_output(output)
    check_outputs([Path(file) for file in files_of(vectors)], [output])
    with limited(threads, max_memory) as most_bytes:
        chosen = None if columns is None else names(columns)
        text = TextOptions(decimal, header, most_bytes)
        with vectors_of(vectors, chosen, names(without), text) as rows:
            wording = index_wording(rows.names)
            if not chosen and not without and are_places(rows.names):
                rows.source.names = None  # of an array, whose columns have places alone
            with warnings_in_a_line(wording), in_words(wording):
                made = _learned(kind, rows.source, metric.value, own, threads)
                made.add(rows.source)
        if not made.n_rows:
            raise ValueError(f"{vectors[0]}: it has no rows to index; give a file with vectors.")
        made.save(output)
    facts = index_facts(made, output) | {"written": named(output)}
    tell_facts(facts, output, as_json=as_json, quiet=quiet)


@index.command(epilog=epilog("index search"))
def search(
    path: Index,
    queries: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERIES",
            help="NPY, Parquet or CSV files, 'patterns' or directories, a query per row; - for "
            "stdin.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="NPY file for the ids, a query per row; - for stdout."),
    ],
    k: Annotated[int, typer.Option("-k", help="Neighbours of each query.", min=1)] = 10,
    distances: Annotated[Path | None, typer.Option(help="NPY file for the distances.")] = None,
    nprobe: Annotated[int | None, typer.Option(help="Of ivf: lists to look into.", min=1)] = None,
    rerank: Annotated[
        int | None, typer.Option(help="Of pq and ivf: compare so many exactly.", min=1)
    ] = None,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified", help="The nearest of all vectors, proved; of indexes that keep them."
        ),
    ] = False,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Write the ids of the k nearest vectors of every query; -1 where there are fewer."""
    from coterie.cli._telling import warnings_in_a_line
    from coterie.data.streams import files_of
    from coterie.search import load

    outputs = [output] if distances is None else [output, distances]
    for each in outputs:
        _check_npy(each)
    outputs = [as_output(each) for each in outputs]
    check_outputs([path, *map(Path, files_of(queries))], outputs)
    if len({each.resolve() for each in outputs}) < len(outputs):
        raise ValueError(f"{output}: it was named for ids and distances; name two files.")
    check_there([str(path)])
    with limited(threads, max_memory) as most_bytes:
        with in_words(index_wording()):
            held: Any = load(path, n_threads=threads)
        asked = {"nprobe": nprobe, "rerank": rerank}
        _check_options(kind_of(held), asked, "build the index again with")
        if rerank is not None and not held.keep_rows:
            raise ValueError(
                f"--rerank {rerank} was given and {path} has codes only; leave it out, or build "
                "the index again with --rerank, so that it keeps the vectors."
            )
        if certified:
            _check_certifies(held, path, asked)
        text = TextOptions(decimal, header, most_bytes)
        with vectors_of(queries, held.columns, (), text, held) as rows:
            wording, given = (
                index_wording(rows.names),
                {n: v for n, v in asked.items() if v is not None},
            )
            rows.source.names = None  # the columns are those of the index, in its order
            with warnings_in_a_line(wording), in_words(wording):
                # What is flat compares all vectors, and needs no proof.
                proves = certified and kind_of(held) is not Kind.FLAT
                ask = held.search_certified if proves else held.search
                found = ask(rows.source, k, **given)
        writers = [array_writer(found.ids), array_writer(found.dists)]
        write_files(dict(zip(outputs, writers, strict=False)))  # both or neither
    facts = {
        "index": str(path), "kind": kind_of(held).value, "n_rows": held.n_rows,
        "n_queries": len(found.ids), "k": k, "certified": certified or kind_of(held) is Kind.FLAT,
    }  # fmt: skip
    if proves:
        facts |= compared_facts(found.n_compared)
    facts["written"] = [named(each) for each in outputs]
    tell_facts(facts, outputs[0], as_json=as_json, quiet=quiet)


@index.command(epilog=epilog("index info"))
def info(
    path: Index,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Say what an index is; a damaged file is an error."""
    from coterie.search import load

    check_there([str(path)])
    with limited(threads, max_memory), in_words(index_wording()):
        held: Any = load(path)
        tell_facts(index_facts(held, path), None, as_json=as_json, quiet=quiet)


def _check_options(kind: Kind, own: dict[str, Any], instead: str = "use") -> None:
    """Refuse options that an index of this kind does not have."""
    for name, value in own.items():
        others = _ONLY[name]
        if value is not None and kind not in others:
            shown = "" if value is True else f" {value}"
            raise ValueError(
                f"--{name}{shown} was given and an index of kind {kind.value} has no such option; "
                f"leave it out, or {instead} --kind {' or '.join(others)}."
            )


def _check_certifies(held: Any, path: Path, asked: dict[str, Any]) -> None:
    """Refuse a proof without the vectors, and options that have no say in it."""
    for name, value in asked.items():
        if value is not None:
            raise ValueError(
                f"--{name} {value} was given with --certified, which compares as many vectors as "
                "the proof needs; leave one of them out."
            )
    if kind_of(held) is not Kind.FLAT and not held.keep_rows:
        raise ValueError(
            f"--certified was given and {path} has codes only; leave it out, or build the index "
            "again with --rerank, so that it keeps the vectors."
        )


def _check_npy(path: Path) -> None:
    if str(path) != "-" and path.suffix.lower() != ".npy":
        raise ValueError(f"{path}: results are written as NPY; choose a name that ends in .npy.")


def _learned(
    kind: Kind, rows: Source, metric: str, own: dict[str, Any], threads: int | None
) -> AnyIndex:
    """An index without rows."""
    from coterie.quantize import ProductQuantizer
    from coterie.search import FlatIndex, IVFPQIndex, PQIndex

    if kind is Kind.FLAT:
        return FlatIndex(metric=metric, n_threads=threads)
    coding: dict[str, Any] = {
        "n_subvectors": own["parts"] or 8, "bits": int(own["bits"] or 8),
        "rotate": "neighbors" if own["rotate"] else False,
        "random_state": own["seed"] or 0, "n_threads": threads,
    }  # fmt: skip
    if kind is Kind.PQ:
        quantizer = ProductQuantizer(**coding).fit(_to_learn_from(rows, metric))
        return PQIndex(quantizer, metric=metric, rerank=own["rerank"], n_threads=threads)
    lists = IVFPQIndex(
        own["lists"] or _n_lists(rows), nprobe=own["nprobe"] or 8, rerank=own["rerank"],
        metric=metric, **coding,
    )  # fmt: skip
    return lists.fit(rows)


def _to_learn_from(rows: Source, metric: str) -> Any:
    """The rows, or for angles some of them over their length."""
    if metric != "cosine":
        return rows
    import numpy as np

    sample = rows.sample(1 << 16, 1, np.random.RandomState(0))
    if rows.n_rows == 0:
        return rows  # which are refused in a sentence
    some = np.asarray(next(iter(sample)).rows, dtype=np.float64)
    norms = np.linalg.norm(some, axis=1, keepdims=True)
    return np.divide(some, norms, out=np.zeros_like(some), where=norms > 0)


def _n_lists(rows: Source) -> int:
    """About twice the root of the number of rows."""
    return max(1, min(rows.n_rows // 8, round(2 * rows.n_rows**0.5)))
