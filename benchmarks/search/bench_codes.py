"""Exhaustive search among codes, judged by the neighbours it misses; training is not timed."""

from __future__ import annotations

from collections.abc import Callable

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload
from ._asked import N_COLS, K, missed, rows_and_queries


def coterie_codes(n_parts: int, bits: int) -> Callable[[Arrays], Call]:
    """Ours: the answer of plain float32 sums."""

    def prepare(arrays: Arrays) -> Call:
        from coterie import ProductQuantizer
        from coterie.search import PQIndex

        quantizer = ProductQuantizer(n_parts, bits=bits, random_state=0).fit(arrays["X"])
        index = PQIndex(quantizer, metric="sqeuclidean").add(arrays["X"])
        return lambda: Outcome(index.search(arrays["queries"], K).ids)

    return prepare


def faiss_codes(n_parts: int, bits: int) -> Callable[[Arrays], Call]:
    """IndexPQ, and IndexPQFastScan for 4 bits, which rounds its sums."""

    def prepare(arrays: Arrays) -> Call:
        faiss = peers.import_faiss()
        kind = faiss.IndexPQ if bits == 8 else faiss.IndexPQFastScan
        index = kind(N_COLS, n_parts, bits)
        if bits == 8:
            index.do_polysemous_training = False
        index.train(arrays["X"])
        index.add(arrays["X"])
        return lambda: Outcome(index.search(arrays["queries"], K)[1])

    return prepare


def workload(n_parts: int, bits: int) -> Workload:
    """One size of codes."""
    contenders = [
        peers.coterie(coterie_codes(n_parts, bits)),
        peers.faiss(faiss_codes(n_parts, bits)),
    ]
    title = f"codes {n_parts} x {bits} bit n=200k, 1000 queries"
    return Workload(
        f"codes-{n_parts}x{bits}", title, 200_000, rows_and_queries, contenders, missed,
        judged_by="missed",
    )  # fmt: skip


WORKLOADS = [workload(16, 8), workload(32, 4)]
