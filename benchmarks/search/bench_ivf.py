"""Search among codes in inverted lists, re-ranked: as fast as can be at a recall to be reached.

Both sides have the same lists, codes and number of rows to compare exactly; `nprobe` is the least
power of two with which a side reaches the recall. Training and that search are not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload
from ._asked import N_COLS, K, missed, rows_and_queries

N_LISTS, RERANK = 512, 100

#: Answers of an index, told how many lists to look into.
Ask = Callable[[int], NDArray[Any]]


def least_nprobe(ask: Ask, arrays: Arrays, most_missed: float) -> int:
    """The least power of two that misses no more; all lists, where none does."""
    nprobe = 1
    while nprobe < N_LISTS and missed(arrays, ask(nprobe)) > most_missed:
        nprobe *= 2
    return nprobe


def coterie_lists(n_parts: int, bits: int, most_missed: float) -> Callable[[Arrays], Call]:
    """Ours."""

    def prepare(arrays: Arrays) -> Call:
        from coterie.search import IVFPQIndex

        index = IVFPQIndex(
            N_LISTS, n_parts, bits, rerank=RERANK, metric="sqeuclidean", random_state=0
        )
        index.fit(arrays["X"]).add(arrays["X"])

        def ask(nprobe: int) -> NDArray[Any]:
            return index.search(arrays["queries"], K, nprobe=nprobe).ids

        nprobe = least_nprobe(ask, arrays, most_missed)
        return lambda: Outcome(ask(nprobe))

    return prepare


def faiss_lists(n_parts: int, bits: int, most_missed: float) -> Callable[[Arrays], Call]:
    """IndexIVFPQ under IndexRefineFlat."""

    def prepare(arrays: Arrays) -> Call:
        faiss = peers.import_faiss()
        coarse = faiss.IndexFlatL2(N_COLS)
        lists = faiss.IndexIVFPQ(coarse, N_COLS, N_LISTS, n_parts, bits)
        lists.train(arrays["X"])
        index = faiss.IndexRefineFlat(lists)
        index.add(arrays["X"])
        index.k_factor = RERANK / K

        def ask(nprobe: int) -> NDArray[Any]:
            lists.nprobe, lists.quantizer = nprobe, coarse  # held on to: faiss does not
            found: NDArray[Any] = index.search(arrays["queries"], K)[1]
            return found

        nprobe = least_nprobe(ask, arrays, most_missed)
        return lambda: Outcome(ask(nprobe))

    return prepare


def workload(n_parts: int, bits: int, recall: float) -> Workload:
    """One size of codes at one recall."""
    contenders = [
        peers.coterie(coterie_lists(n_parts, bits, 1 - recall)),
        peers.faiss(faiss_lists(n_parts, bits, 1 - recall)),
    ]
    title = f"lists {n_parts} x {bits} bit n=200k, 1000 queries, recall@10 >= {recall}"
    return Workload(
        f"lists-{n_parts}x{bits}-{round(100 * recall)}", title, 200_000, rows_and_queries,
        contenders, missed, judged_by="missed",
    )  # fmt: skip


WORKLOADS = [
    workload(n_parts, bits, recall)
    for n_parts, bits in ((16, 8), (32, 4))
    for recall in (0.8, 0.95)
]
