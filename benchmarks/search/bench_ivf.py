"""Search among codes in lists, and in a graph: as fast as can be at a recall to be reached.

All have the same lists, codes and number of rows to compare exactly. Re-ranked, a side looks into
the least power of two of lists with which it reaches the recall (a graph: has so large a front);
without, all look into as many. Training, building and that search are not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Contender, Outcome, Workload
from ._asked import N_COLS, SIFT_FOLDER, K, missed, sift, weak_clusters

RERANK, PLAIN_NPROBE = 100, 16
CONNECTIVITY, BUILD_FRONT, WIDEST_FRONT = 16, 128, 4096

#: Answers of an index, told how many lists to look into, or how wide a front to keep.
Ask = Callable[[int], NDArray[Any]]


@dataclass(frozen=True)
class Lists:
    """How many lists, the size of codes, and the recall to reach; without one, no re-ranking."""

    n_lists: int
    n_parts: int
    bits: int
    recall: float | None


def least_effort(ask: Ask, arrays: Arrays, recall: float, most: int) -> int:
    """The least power of two that reaches the recall; `most`, where none does."""
    effort = 1
    while effort < most and missed(arrays, ask(effort)) > 1 - recall:
        effort *= 2
    return min(effort, most)


def ready(ask: Ask, arrays: Arrays, lists: Lists) -> Call:
    """The call that is timed."""
    nprobe = PLAIN_NPROBE
    if lists.recall is not None:
        nprobe = least_effort(ask, arrays, lists.recall, lists.n_lists)
    return lambda: Outcome(ask(nprobe), nprobe)


def coterie_lists(lists: Lists) -> Callable[[Arrays], Call]:
    """Ours."""

    def prepare(arrays: Arrays) -> Call:
        from coterie.search import IVFPQIndex

        index = IVFPQIndex(
            lists.n_lists, lists.n_parts, lists.bits, metric="sqeuclidean", random_state=0,
            rerank=None if lists.recall is None else RERANK, n_threads=N_THREADS,
        )  # fmt: skip
        index.fit(arrays["X"]).add(arrays["X"])

        def ask(nprobe: int) -> NDArray[Any]:
            return index.search(arrays["queries"], K, nprobe=nprobe).ids

        return ready(ask, arrays, lists)

    return prepare


def faiss_lists(lists: Lists, kind: str) -> Callable[[Arrays], Call]:
    """IndexIVFPQ or IndexIVFPQFastScan, under IndexRefineFlat where there is a recall to reach."""

    def prepare(arrays: Arrays) -> Call:
        faiss = peers.import_faiss()
        coarse = faiss.IndexFlatL2(N_COLS)
        coded = getattr(faiss, kind)(coarse, N_COLS, lists.n_lists, lists.n_parts, lists.bits)
        coded.train(arrays["X"])
        index = coded if lists.recall is None else faiss.IndexRefineFlat(coded)
        index.add(arrays["X"])
        if lists.recall is not None:
            index.k_factor = RERANK / K

        def ask(nprobe: int) -> NDArray[Any]:
            coded.nprobe, coded.quantizer = nprobe, coarse  # held on to: faiss does not
            found: NDArray[Any] = index.search(arrays["queries"], K)[1]
            return found

        return ready(ask, arrays, lists)

    return prepare


def usearch_graph(recall: float) -> Callable[[Arrays], Call]:
    """The graph of Malkov & Yashunin (HNSW) among the rows themselves."""

    def prepare(arrays: Arrays) -> Call:
        import numpy as np
        from usearch.index import Index

        X = arrays["X"]
        index = Index(
            ndim=N_COLS, metric="l2sq", dtype="f32", connectivity=CONNECTIVITY,
            expansion_add=BUILD_FRONT,
        )  # fmt: skip
        index.add(np.arange(len(X)), X, threads=N_THREADS)

        def ask(front: int) -> NDArray[Any]:
            index.expansion_search = front
            found = index.search(arrays["queries"], K, threads=N_THREADS)
            return np.asarray(found.keys).astype(np.int64)

        front = least_effort(ask, arrays, recall, WIDEST_FRONT)
        return lambda: Outcome(ask(front), front)

    return prepare


def contenders(lists: Lists) -> list[Contender]:
    """Who can do this: the fast scan is of 4 bits; the graph has no codes, so it is asked once."""
    entered = [
        peers.coterie(coterie_lists(lists)),
        peers.faiss(faiss_lists(lists, "IndexIVFPQ")),
    ]
    if lists.bits == 4:
        entered.append(peers.faiss(faiss_lists(lists, "IndexIVFPQFastScan"), "faiss-fastscan"))
    elif lists.recall is not None:
        entered.append(peers.usearch(usearch_graph(lists.recall)))
    return entered


def workload(
    data: str, make: Callable[[int], Arrays], n_rows: int, n_lists: int,
    n_parts: int, bits: int, recall: float | None,
) -> Workload:  # fmt: skip
    """One size of codes at one recall, or without re-ranking."""
    aim = f"re-ranked, recall@10 >= {recall}" if recall else f"nprobe {PLAIN_NPROBE}, no re-rank"
    end = round(100 * recall) if recall else "plain"
    return Workload(
        f"{data}-{n_parts}x{bits}-{end}",
        f"{n_lists} {data} of {n_parts} x {bits} bit n={n_rows}, 1000 queries, {aim}; "
        "iter: lists looked into, or the graph's front",
        n_rows, make, contenders(Lists(n_lists, n_parts, bits, recall)), missed, judged_by="missed",
    )  # fmt: skip


DATA = [("lists", weak_clusters, 200_000, 512)]
if SIFT_FOLDER:
    DATA.append(("sift-lists", sift, 9_000, 64))

WORKLOADS = [
    workload(*data, n_parts, bits, recall)
    for data in DATA
    for n_parts, bits in ((16, 8), (32, 4))
    for recall in (0.8, 0.95, None)
]
