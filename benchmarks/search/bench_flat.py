"""Exact search among all rows, judged by the neighbours it misses."""

from __future__ import annotations

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload
from ._asked import N_COLS, K, missed, rows_and_queries


def coterie_flat(arrays: Arrays) -> Call:
    """Ours, exact in float64."""
    from coterie.search import FlatIndex

    index = FlatIndex(metric="sqeuclidean").add(arrays["X"])
    return lambda: Outcome(index.search(arrays["queries"], K).ids)


def faiss_flat(arrays: Arrays) -> Call:
    """IndexFlatL2, in float32."""
    faiss = peers.import_faiss()
    index = faiss.IndexFlatL2(N_COLS)
    index.add(arrays["X"])
    return lambda: Outcome(index.search(arrays["queries"], K)[1])


WORKLOADS = [
    Workload(
        "flat-d128",
        "exact top 10 n=200k d=128, 1000 queries",
        200_000,
        rows_and_queries,
        [peers.coterie(coterie_flat), peers.faiss(faiss_flat)],
        missed,
        judged_by="missed",
    )
]
