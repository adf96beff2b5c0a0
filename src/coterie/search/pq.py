"""Search among the codes of a product quantizer."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.errors import AdviceWarning
from coterie.neighbors.index import Neighbors
from coterie.search._certified import CertifiedNeighbors, gaps, longest
from coterie.search._code_blocks import BLOCK_ROWS, as_bytes, from_blocks, n_bytes, to_blocks
from coterie.search._code_space import CodeSpace, Quantizer
from coterie.search._growing import Growing
from coterie.search._index import Floats, Ints, SearchIndex
from coterie.search._index_file import Arrays, damaged
from coterie.search._rerank import check_rerank, keeps_rows, n_to_find, told_of_rows
from coterie.search._stored_quantizer import restored, stored

__all__ = ["CertifiedNeighbors", "PQIndex"]

#: Queries whose tables are made together.
_QUERIES = 4096


class _Rows(NamedTuple):
    rows: Floats
    errors: npt.NDArray[np.float32]
    worst_error: float
    longest: float


class _Now(NamedTuple):
    ids: Ints
    blocks: npt.NDArray[np.uint8]
    kept: _Rows | None


class PQIndex(SearchIndex):
    """Codes of a product quantizer, searched whole.

    A row x is kept as its code, M numbers of 8 or 4 bits that stand for a point c(x); the distance
    of a query is that to c(x), a sum of M entries of tables made once per query (asymmetric
    distance; Jegou, Douze and Schmid 2011). Tables are rounded to bytes and looked up in registers
    (Andre, Kermarrec and Le Scouarnec 2015) to see which rows may be near enough, and those are
    summed in float32: answers have the bits of the plain float32 sums in the order of the parts,
    equals by lower id.

    With `keep_rows` the index also keeps the rows and how far each is from its code, e = |x -
    c(x)|. Since | |q - x| - |q - c(x)| | <= e, codes then bound the distances of the rows from
    both sides, and `search_certified` gives the nearest *rows*, exactly. With `rerank`, `search`
    compares so many of the nearest by code exactly, and gives the nearest rows among them.

    A search takes O(n_queries n_rows M) time. Memory: M (8 bits) or M / 2 (4 bits) bytes per row
    and 8 for its id; with `keep_rows` the rows, and 4 bytes more.

    Parameters
    ----------
    quantizer : ProductQuantizer
        Fitted, with 4 or 8 bits; for cosine, on rows of length one.
    metric : {"euclidean", "sqeuclidean", "inner_product", "cosine"}
        As for `FlatIndex`.
    keep_rows : bool
    rerank : int or None
        How many rows are compared exactly, k at least; implies `keep_rows`.
    dtype : {"float32", "float64"}
        What rows that are kept, and queries, are held as.
    n_threads : int or None
    """

    _kind = "PQIndex"

    def __init__(
        self,
        quantizer: Quantizer,
        *,
        metric: str = "euclidean",
        keep_rows: bool = False,
        rerank: int | None = None,
        dtype: npt.DTypeLike = "float32",
        n_threads: int | None = None,
    ) -> None:
        super().__init__(metric, dtype, n_threads)
        self.quantizer, self.rerank = quantizer, rerank
        self.keep_rows = keeps_rows(self._kind, keep_rows, rerank)
        self._space = CodeSpace(type(self).__name__, quantizer, metric)
        if metric == "cosine" and self._space.longest_word > 1 + 1e-4:
            warnings.warn(
                "PQIndex: metric='cosine' compares rows of length one, and the quantizer has "
                "codewords longer than that, so neighbours by code are wrong; fit it on rows over "
                "their length (sklearn.preprocessing.normalize).",
                AdviceWarning,
                stacklevel=2,
            )
        names = getattr(quantizer, "feature_names_in_", None)
        self._columns = None if names is None else list(names)
        width = n_bytes(self._space.n_parts, self._space.bits)
        self._n_coded = 0
        self._blocks = Growing(np.empty((0, width, BLOCK_ROWS), dtype=np.uint8), self._kind)
        self._rows = Growing(np.empty((0, self._space.n_features), self.dtype), self._kind)
        self._errors = Growing(np.empty(0, dtype=np.float32), self._kind)
        self._worst_error = self._longest = 0.0  # of the rows that are kept

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return self._space.n_features

    def codes(self) -> npt.NDArray[np.uint8]:
        """The bytes of the codes, in the order of `ids`; of 4 bits, two are in a byte."""
        return from_blocks(self._blocks.view, self._n_coded).copy()

    def search(self, queries: Any, k: int, *, rerank: int | None = None) -> Neighbors:
        """The k nearest rows of every query by code, nearest first, equals by lower id.

        Parameters
        ----------
        queries : array, path or source of shape (n_queries, n_features)
        k : int
            Where there are fewer rows, the rest has id -1 and is infinitely far away.
        rerank : int or None
            In place of that of the index.

        Returns
        -------
        Neighbors
            `dists` (float64) and `ids` (int64), each of shape (n_queries, k).
        """
        check_rerank(self._kind, rerank, self.keep_rows)
        asked, found, now = self._question(queries, k)
        self._ask(now, asked, found, rerank or self.rerank, self._threads())
        return found

    def search_certified(self, queries: Any, k: int) -> CertifiedNeighbors:
        """The k nearest rows of every query, not codes, with a proof; `keep_rows` is needed.

        Rows are compared exactly in the order of the lower bounds of their distances, until these
        exceed the k-th distance found. The answer is that of `FlatIndex`, to the last bit.

        Returns
        -------
        CertifiedNeighbors
            With `n_compared`, how many rows each query had to be compared with.
        """
        asked, found, now = self._question(queries, k)
        if now.kept is None:
            raise ValueError(
                "PQIndex: search_certified needs the rows and only codes are kept; make the index "
                "with keep_rows=True."
            )
        proved = CertifiedNeighbors(*found, np.empty(len(asked), dtype=np.int64))
        space, kept, n_threads = self._space, now.kept, self._threads()
        for begin in range(0, len(asked), _QUERIES):
            here = slice(begin, begin + _QUERIES)
            tables, norms = space.tables(asked[here], n_threads)
            kernels.search_certified(
                now.blocks, now.ids, space.n_parts, space.bits, tables, kept.rows, kept.errors,
                kept.worst_error, kept.longest, space.stretch, self.metric, asked[here], norms,
                proved.dists[here], proved.ids[here], proved.n_compared[here], n_threads,
            )  # fmt: skip
        return proved

    def _details(self) -> list[str]:
        codes = f"{self._space.n_parts} x {self._space.bits} bit"
        return [codes, *told_of_rows(self.keep_rows, self.rerank)]

    def _take(self, rows: Floats) -> None:
        space = self._space
        if not len(rows):
            return
        codes = space.encode(rows, self.n_threads)
        n_full = self._n_coded // BLOCK_ROWS
        begun = from_blocks(self._blocks.view[n_full:], self._n_coded - n_full * BLOCK_ROWS)
        blocks = to_blocks(np.concatenate([begun, as_bytes(codes, space.bits)]))
        self._blocks.truncate(n_full)
        self._blocks.extend(blocks)
        self._n_coded += len(rows)
        if self.keep_rows:
            self._rows.extend(rows)
            origin = np.zeros((1, space.n_features)), np.zeros(len(rows), dtype=np.int64)
            errors = gaps(space, rows, codes, *origin).errors
            self._errors.extend(errors)
            self._measure(rows, errors)

    def _measure(self, rows: Floats, errors: npt.NDArray[np.float32]) -> None:
        """Know the largest of these rows and errors, too."""
        self._worst_error = max(self._worst_error, float(errors.max(initial=0)))
        self._longest = max(self._longest, longest(rows, self.metric))

    def _forget_after(self, n_rows: int) -> None:
        self._n_coded = n_rows
        self._blocks.truncate(-(-n_rows // BLOCK_ROWS))
        if self.keep_rows:
            self._rows.truncate(n_rows)
            self._errors.truncate(n_rows)

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        codes = from_blocks(self._blocks.view, self._n_coded)[kept]
        self._blocks = Growing(to_blocks(codes), self._kind)
        self._n_coded = int(kept.sum())
        if self.keep_rows:
            self._rows = Growing(self._rows.view[kept], self._kind)
            self._errors = Growing(self._errors.view[kept], self._kind)
            self._worst_error = self._longest = 0.0
            self._measure(self._rows.view, self._errors.view)

    def _state(self) -> _Now:
        kept = None
        if self.keep_rows:
            kept = _Rows(self._rows.view, self._errors.view, self._worst_error, self._longest)
        return _Now(self._ids.view, self._blocks.view, kept)

    def _answer(self, now: _Now, queries: Floats, found: Neighbors, n_threads: int) -> None:
        self._ask(now, queries, found, self.rerank, n_threads)

    def _ask(
        self, now: _Now, queries: Floats, found: Neighbors, rerank: int | None, n_threads: int
    ) -> None:
        """Write the neighbours by code, or of rows among the nearest by code."""
        space, metric = self._space, self.metric
        for begin in range(0, len(queries), _QUERIES):
            here = slice(begin, begin + _QUERIES)
            tables, _ = space.tables(queries[here], n_threads)
            coded = (now.blocks, now.ids, space.n_parts, space.bits, tables)
            dists, ids = found.dists[here], found.ids[here]
            if rerank is None or now.kept is None:
                kernels.search_codes(*coded, metric == "euclidean", dists, ids, n_threads)
                if metric == "cosine":
                    np.add(dists, 1, out=dists)
            else:
                kernels.search_codes_and_compare(
                    *coded, n_to_find(rerank, dists.shape[1], len(now.ids)), now.kept.rows, metric,
                    queries[here], dists, ids, n_threads,
                )  # fmt: skip

    def _held_rows(self) -> Floats | None:
        return self._rows.view if self.keep_rows else None

    def _stored(self) -> tuple[dict[str, Any], Arrays]:
        settings, arrays = stored(self.quantizer)
        arrays["blocks"] = self._blocks.view
        if self.keep_rows:
            arrays |= {"rows": self._rows.view, "errors": self._errors.view}
        told = {"quantizer": settings, "keep_rows": self.keep_rows, "rerank": self.rerank}
        return told, arrays

    @classmethod
    def _restored(cls, settings: dict[str, Any], arrays: Arrays, n_threads: int | None) -> Self:
        blocks = arrays.pop("blocks")
        kept = {name: arrays.pop(name) for name in ("rows", "errors") if settings["keep_rows"]}
        index = cls(
            restored(settings["quantizer"], arrays, n_threads), metric=settings["metric"],
            keep_rows=settings["keep_rows"], rerank=settings.get("rerank"),
            dtype=settings["dtype"], n_threads=n_threads,
        )  # fmt: skip
        held = {"blocks": blocks, **kept}
        for name, array in held.items():
            empty = getattr(index, f"_{name}").view
            if array.dtype != empty.dtype or array.shape[1:] != empty.shape[1:]:
                raise damaged(f"its {name} are of another type or shape")
            setattr(index, f"_{name}", Growing(array, cls._kind))
        if index.keep_rows:
            index._measure(kept["rows"], kept["errors"])
        return index

    def _check_restored(self, n_rows: int) -> None:
        lengths = {len(self._rows), len(self._errors)} if self.keep_rows else {n_rows}
        if lengths != {n_rows} or len(self._blocks) != -(-n_rows // BLOCK_ROWS):
            raise damaged("it has not as many codes, rows and ids")
        if self.keep_rows and not (self._errors.view >= 0).all():
            raise damaged("its errors are not all zero or more")
        self._n_coded = n_rows
