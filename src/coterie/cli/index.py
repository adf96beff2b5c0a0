"""``coterie index``: build an index of vectors, search it, say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._examples import epilog
from coterie.cli._limits import limited
from coterie.cli._options import Columns, Json, MaxMemory, Quiet, Threads, names
from coterie.cli._outputs import (
    array_writer,
    as_output,
    is_stdout,
    refuse_overwriting,
    write_files,
)
from coterie.cli._stdin import as_files

if TYPE_CHECKING:
    from coterie.data import Source
    from coterie.search import FlatIndex, IVFPQIndex, PQIndex

    AnyIndex = FlatIndex | PQIndex | IVFPQIndex

index = typer.Typer(help="Build an index of vectors, search it, say what it is.")


class Kind(StrEnum):
    """Which index."""

    FLAT = "flat"
    PQ = "pq"
    IVF = "ivf"


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

#: What a source advises where columns hold text.
_ABOUT_TEXT = re.compile(r"; [^;]*, or use MixedMixture,.*")

#: What parameters and classes are called here.
_WORDS = {
    "n_subvectors": "--parts", "n_lists": "--lists", "bits": "--bits", "nprobe": "--nprobe",
    "rerank": "--rerank", "FlatIndex": "flat", "PQIndex": "pq", "ProductQuantizer": "pq",
    "IVFPQIndex": "ivf",
}  # fmt: skip

#: Advice that only Python can follow, and what to do here instead.
_INSTEAD = {
    "Input X contains NaN": "the table has no value",
    "Input queries contains NaN": "a query has no value",
    "Input X contains": "the table holds",
    "Input queries contains": "a query holds",
    "and queries has": "and the queries have",
    "and rows to cluster by distance are numbers": "and vectors are numbers",
    "open it with coterie.load": "'coterie info' says what it is",
    "that an index's save, or 'coterie index build', wrote": "that 'coterie index build' wrote",
}


@index.command(epilog=epilog("index build"))
def build(
    vectors: Annotated[
        Path,
        typer.Argument(
            metavar="VECTORS", help="NPY, Parquet or CSV file, a vector per row; - for stdin."
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
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Build an index of vectors, under ids 0, 1, ... in their order."""
    from coterie._writing import check_writable
    from coterie.data import open as open_source

    own = {"lists": lists, "nprobe": nprobe, "parts": parts, "bits": bits, "rerank": rerank,
           "rotate": rotate or None, "seed": seed}  # fmt: skip
    _check_options(kind, own)
    output = as_output(output)
    check_writable(output)
    refuse_overwriting([vectors], [output])
    with limited(threads, max_memory), as_files([str(vectors)], text=True) as (place,):
        with _in_words():
            rows = open_source(place, columns=None if columns is None else names(columns))
        with _in_words(rows.names):
            made = _learned(kind, rows, metric.value, own, threads)
            made.add(rows)
        if not made.n_rows:
            raise ValueError(f"{vectors}: it has no rows to index; give a file with vectors.")
        made.save(output)
    facts = index_facts(made, output) | {"written": str(output)}
    _tell(facts, output, as_json=as_json, quiet=quiet)


@index.command(epilog=epilog("index search"))
def search(
    path: Index,
    queries: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES", help="NPY, Parquet or CSV file, a query per row; - for stdin."
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
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Write the ids of the k nearest vectors of every query; -1 where there are fewer."""
    from coterie._writing import check_writable
    from coterie.search import load

    outputs = [output] if distances is None else [output, distances]
    for each in outputs:
        _check_npy(each)
    outputs = [as_output(each) for each in outputs]
    for each in outputs:
        check_writable(each)
    if len({each.resolve() for each in outputs}) < len(outputs):
        raise ValueError(f"{output}: it was named for ids and distances; name two files.")
    refuse_overwriting([path, queries], outputs)
    with limited(threads, max_memory), as_files([str(queries)], text=True) as (place,):
        with _in_words():
            held: Any = load(path, n_threads=threads)
        asked = {"nprobe": nprobe, "rerank": rerank}
        _check_options(_kind_of(held), asked)
        if rerank is not None and not held.keep_rows:
            raise ValueError(
                f"--rerank {rerank} was given and {path} has codes only; leave it out, or build "
                "the index again with --rerank, so that it keeps the vectors."
            )
        with _in_words():
            found = held.search(place, k, **{n: v for n, v in asked.items() if v is not None})
        writers = [array_writer(found.ids), array_writer(found.dists)]
        write_files(dict(zip(outputs, writers, strict=False)))  # both or neither
    facts = {
        "index": str(path), "kind": _kind_of(held).value, "n_rows": held.n_rows,
        "n_queries": len(found.ids), "k": k, "written": [str(each) for each in outputs],
    }  # fmt: skip
    _tell(facts, outputs[0], as_json=as_json, quiet=quiet)


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

    with limited(threads, max_memory), _in_words():
        held: Any = load(path)
        _tell(index_facts(held, path), None, as_json=as_json, quiet=quiet)


@contextmanager
def _in_words(columns: Sequence[str] | None = None) -> Iterator[None]:
    """Let errors speak of the options of this command, and of rows from 1 on."""
    from coterie.cli._wording import Wording

    wording = Wording(None, columns or (), _WORDS)
    try:
        yield
    except ValueError as error:
        told = str(error)
        for python, instead in _INSTEAD.items():
            told = told.replace(python, instead)
        told = _ABOUT_TEXT.sub("; name others with --columns, or convert them.", told)
        raise ValueError(wording(told)) from error


def _check_options(kind: Kind, own: dict[str, Any]) -> None:
    """Refuse options that an index of this kind does not have."""
    for name, value in own.items():
        others = _ONLY[name]
        if value is not None and kind not in others:
            shown = "" if value is True else f" {value}"
            raise ValueError(
                f"--{name}{shown} was given and an index of kind {kind.value} has no such option; "
                f"leave it out, or use --kind {' or '.join(others)}."
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


def _kind_of(held: AnyIndex) -> Kind:
    return {"FlatIndex": Kind.FLAT, "PQIndex": Kind.PQ, "IVFPQIndex": Kind.IVF}[type(held).__name__]


def index_facts(held: AnyIndex, path: Path) -> dict[str, Any]:
    """What an index is, in numbers."""
    from coterie.search import FlatIndex, IVFPQIndex, PQIndex

    facts: dict[str, Any] = {
        "index": str(path), "kind": _kind_of(held).value, "metric": held.metric,
        "dtype": held.dtype.name, "n_rows": held.n_rows, "n_features": held.n_features,
        "bytes": None if is_stdout(path) else path.stat().st_size,
        "keeps_rows": isinstance(held, FlatIndex),
    }  # fmt: skip
    if isinstance(held, PQIndex | IVFPQIndex):
        quantizer: Any = held.quantizer
        facts |= {"bits_per_vector": quantizer.bits_per_vector_, "rerank": held.rerank}
        facts["keeps_rows"] = held.keep_rows
    if isinstance(held, IVFPQIndex):
        sizes = held.list_sizes
        facts |= {"n_lists": held.n_lists, "nprobe": held.nprobe}
        facts |= {"largest_list": int(sizes.max()), "empty_lists": int((sizes == 0).sum())}
    return facts


def _tell(facts: dict[str, Any], output: Path | None, *, as_json: bool, quiet: bool) -> None:
    from coterie.cli._telling import tell

    aside = output is not None and is_stdout(output)
    tell(facts, partial(lines_of, facts), as_json=as_json, quiet=quiet, aside=aside)


def lines_of(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    for name, value in facts.items():
        yield f"{name.replace('_', ' '):<16}{_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(value) if isinstance(value, list) else str(value)
