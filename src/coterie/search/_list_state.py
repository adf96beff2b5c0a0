"""What a question looks at in an inverted file, and how the kernels are asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.neighbors.index import Neighbors
from coterie.search._certified import CertifiedNeighbors, longest
from coterie.search._code_blocks import BLOCK_ROWS, Bytes
from coterie.search._code_space import Doubles
from coterie.search._kept_rows import KeptRows
from coterie.search._list_space import ListQueries, ListSpace
from coterie.search._lists import Lists, list_maxima
from coterie.search._rerank import n_to_find

Floats = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

#: Queries that are answered together.
_QUERIES = 4096


class CodeLists(NamedTuple):
    """What the kernel scans."""

    blocks: Bytes
    row_starts: Ints
    rows: Ints
    ids: Ints  # in the order of the lists
    n_parts: int
    bits: int
    origin: Doubles  # amid the centres
    terms: npt.NDArray[np.uint16]  # what rows add to a value whoever asks, where codes have 4 bits
    term_lows: Doubles
    term_steps: Doubles


class Proof(NamedTuple):
    """What certifies: rows, and how far they are from their codes and from their centres."""

    rows: Floats
    ids: Ints
    errors: npt.NDArray[np.float32]
    radii: npt.NDArray[np.float32]  # of the lists
    worst_errors: npt.NDArray[np.float32]  # of the lists
    longest: float
    longest_word: float
    stretch: float


class ListState(NamedTuple):
    """The index as it is asked, whatever is added to it meanwhile."""

    who: str
    ids: Ints
    learned: ListSpace
    lists: CodeLists
    proof: Proof | None

    def ask(
        self, queries: Floats, found: Neighbors, nprobe: int, rerank: int | None, n_threads: int
    ) -> None:
        """Write the neighbours that some lists have, by code or of rows."""
        metric = self.learned.space.metric
        for begin in range(0, len(queries), _QUERIES):
            here = slice(begin, begin + _QUERIES)
            asked = self.learned.asked(self.who, queries[here])
            probes = self.learned.probes(queries[here], nprobe, n_threads)
            dists, ids = found.dists[here], found.ids[here]
            if rerank is None or self.proof is None:
                by = "inner_product" if metric == "cosine" else metric
                kernels.search_lists(self.lists, asked, probes, by, dists, ids, n_threads)
                if metric == "cosine":
                    np.add(dists, 1, out=dists)
            else:
                n_found = n_to_find(rerank, dists.shape[1], len(self.ids))
                kernels.search_lists_and_compare(
                    self.lists, asked, probes, n_found, self.proof.rows, metric, queries[here],
                    dists, ids, n_threads,
                )  # fmt: skip

    def certify(self, queries: Floats, found: Neighbors, n_threads: int) -> CertifiedNeighbors:
        """Write the nearest of all rows, with how many were compared."""
        if self.proof is None:
            raise ValueError(
                f"{self.who}: search_certified needs the rows and only codes are kept; make the "
                "index with keep_rows=True."
            )
        proved = CertifiedNeighbors(*found, np.empty(len(queries), dtype=np.int64))
        for begin in range(0, len(queries), _QUERIES):
            here = slice(begin, begin + _QUERIES)
            kernels.search_lists_certified(
                self.lists, self.learned.asked(self.who, queries[here]), self.proof,
                self.learned.space.metric, queries[here], proved.dists[here], proved.ids[here],
                proved.n_compared[here], n_threads,
            )  # fmt: skip
        return proved


def list_state(
    who: str, ids: Ints, learned: ListSpace, lists: Lists, kept: KeptRows | None, n_threads: int
) -> ListState:
    """The state of an index with these ids, lists and, where they are kept, rows."""
    space = learned.space
    codes = _code_lists(ids, learned, lists, n_threads)
    proof = None
    if kept is not None:
        rows, gaps = kept.rows, kept.gaps
        proof = Proof(
            rows, ids, gaps.errors, list_maxima(lists, gaps.reaches),
            list_maxima(lists, gaps.errors),
            max(longest(rows, space.metric), learned.longest_center), learned.longest_word,
            space.stretch,
        )  # fmt: skip
    return ListState(who, ids, learned, codes, proof)


def _code_lists(ids: Ints, learned: ListSpace, lists: Lists, n_threads: int) -> CodeLists:
    """Lists and, under squares, the terms of their rows; products have none."""
    space, turned = learned.space, learned.turned
    squares = space.metric in ("euclidean", "sqeuclidean")
    origin = turned.mean(axis=0) if squares else np.zeros(turned.shape[1])
    n_blocks = len(lists.blocks) if space.bits == 4 else 0
    codes = CodeLists(
        *lists, ids[lists.rows], space.n_parts, space.bits, origin,
        np.zeros((n_blocks, BLOCK_ROWS), np.uint16), np.zeros(len(turned)), np.zeros(len(turned)),
    )  # fmt: skip
    if squares and space.bits == 4:
        nobody = ListQueries(learned.words, space.starts, turned, np.empty((0, turned.shape[1])))
        kernels.row_terms(codes, nobody, codes.terms, codes.term_lows, codes.term_steps, n_threads)
    return codes
