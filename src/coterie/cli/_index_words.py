"""Errors of indexes in the words of ``coterie index``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

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
    "queries holds": "a query holds",
    "and queries has": "and the queries have",
    "pass more columns": "give more columns",
    "pass more rows": "give more vectors",
    "pass rows with the same": "give rows with the same",
    'from rows and queries, or make the index with dtype="float64"': (
        "from vectors and queries first"
    ),
    ', or make the index with dtype="float64"': "",
    "make the index with keep_rows=True": "build it again with --rerank, so that it keeps them",
    "add some first": "build it again from a file with vectors",
    "add fewer rows, or keep their codes alone (PQIndex, IVFPQIndex)": (
        "give fewer vectors, or keep their codes alone (--kind pq or ivf)"
    ),
    "open it with coterie.load": "'coterie info' says what it is",
    "that an index's save, or 'coterie index build', wrote": "that 'coterie index build' wrote",
}


def index_wording(columns: Sequence[str] = ()) -> Callable[[str], str]:
    """Turns sentences of Python into those of this command, with rows from 1 on."""
    from coterie.cli._wording import Wording

    turned = Wording(None, columns, _WORDS)

    def wording(told: str) -> str:
        for python, instead in _INSTEAD.items():
            told = told.replace(python, instead)
        return turned(told)

    return wording


@contextmanager
def in_words(wording: Callable[[str], str]) -> Iterator[None]:
    """Let errors speak of the options of this command."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(wording(str(error))) from error
    except ValueError as error:
        raise ValueError(wording(str(error))) from error
