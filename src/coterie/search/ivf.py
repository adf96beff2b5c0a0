"""Search among codes in inverted lists."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from coterie._checks import check_params, whole
from coterie._random import check_random_state
from coterie.data import ArraySource, Source
from coterie.errors import ParameterError
from coterie.neighbors.index import Neighbors
from coterie.quantize import ProductQuantizer
from coterie.search._certified import CertifiedNeighbors, gaps
from coterie.search._coarse import learn_lists, nearest_center, residuals
from coterie.search._code_blocks import Bytes, as_bytes, n_bytes
from coterie.search._code_space import Doubles, on_threads, to_length_one
from coterie.search._incoming import as_opened, incoming, names_of
from coterie.search._index import Floats, Ints, SearchIndex
from coterie.search._index_file import Arrays, damaged
from coterie.search._kept_rows import ROW_ARRAYS, KeptRows, restored_rows
from coterie.search._list_space import ListSpace, list_space
from coterie.search._list_state import ListState, list_state
from coterie.search._lists import Lists, check_lists, in_lists, out_of_lists
from coterie.search._rerank import check_rerank, keeps_rows, told_of_rows
from coterie.search._stored_quantizer import restored, stored

__all__ = ["IVFPQIndex"]


class IVFPQIndex(SearchIndex):
    """Codes of residuals in inverted lists, of which a query looks into the nearest few.

    k-means cuts the space into `n_lists` cells with centres c; a row x is in the list of its
    nearest centre, as the code of the residual x - c (Jegou, Douze and Schmid 2011). A query q
    looks into the `nprobe` lists whose centres are nearest, or have the largest product with q. A
    row's value there is |(q - c) - r(x)|^2, or q.c + q.r(x), where r(x) is what its code stands
    for: sums of table entries in float32, scanned as those of `PQIndex`, equals by lower id.

    With `rerank` the index also keeps the rows, and compares so many of the nearest by code
    exactly: with ``nprobe=n_lists`` and ``rerank=n_rows`` the answer is that of `FlatIndex`, to
    the last bit. With `keep_rows`, `search_certified` proves which of all rows are the nearest.

    A search takes O(n_lists n_features + nprobe (n_features 2^bits + M n_rows / n_lists)) time per
    query. Memory: M (8 bits) or M / 2 + 2 (4 bits) bytes per row, up to 63 rows of padding per
    list, and 24 bytes per row for its id and its place; the centres; the rows and 8 bytes each, if
    kept. `add` and `remove` rewrite the lists, in time that grows with their size: add many rows at
    once.

    Parameters
    ----------
    n_lists : int
        About the root of the number of rows, or some times that.
    n_subvectors : int
        M, the parts of a code.
    bits : {8, 4}
        Of each part.
    nprobe : int
        Lists that a query looks into; all, where there are fewer.
    rerank : int or None
        How many rows are compared exactly, k at least; implies `keep_rows`.
    rotate : bool
        Whether residuals are rotated before they are cut into parts (OPQ), by
        ``ProductQuantizer(rotate="neighbors")``: for codes that find most neighbours.
    keep_rows : bool
        Keep the rows, for `search_certified`, and so that `search` can be told to rerank.
    metric : {"euclidean", "sqeuclidean", "inner_product", "cosine"}
        As for `FlatIndex`.
    dtype : {"float32", "float64"}
        What rows that are kept, and queries, are held as.
    random_state : int, RandomState or None
    n_threads : int or None

    Attributes
    ----------
    quantizer : ProductQuantizer
        Of residuals; fitted by `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.search import IVFPQIndex
    >>> X = np.random.default_rng(0).normal(size=(5000, 16))
    >>> index = IVFPQIndex(50, 8, bits=4, nprobe=10, rerank=100, random_state=0).fit(X).add(X)
    >>> index.search(X[:3], k=2).ids[:, 0].tolist()
    [0, 1, 2]
    """

    _kind = "IVFPQIndex"

    def __init__(
        self,
        n_lists: int = 256,
        n_subvectors: int = 8,
        bits: int = 8,
        *,
        nprobe: int = 8,
        rerank: int | None = None,
        rotate: bool = False,
        keep_rows: bool = False,
        metric: str = "euclidean",
        dtype: npt.DTypeLike = "float32",
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(metric, dtype, n_threads)
        for name, value in (("n_lists", n_lists), ("nprobe", nprobe)):
            _check_count(name, value)
        self.n_lists, self.nprobe, self.rerank = int(n_lists), int(nprobe), rerank
        self.keep_rows = keeps_rows("IVFPQIndex", keep_rows, rerank)
        self.random_state = random_state
        self.quantizer = ProductQuantizer(
            n_subvectors, bits=bits, rotate="neighbors" if rotate in (True,) else rotate
        )
        check_params(self._kind, vars(self.quantizer), self.quantizer._rules)
        self._learned: ListSpace | None = None
        self._lists = in_lists(np.empty(0, np.int64), np.empty((0, 1), np.uint8), self.n_lists)
        self._coming: list[tuple[Ints, Bytes]] = []
        self._rows: KeptRows | None = None

    @property
    def n_features(self) -> int | None:
        """Columns of the rows; None before `fit`."""
        return None if self._learned is None else self._learned.space.n_features

    @property
    def list_sizes(self) -> Ints:
        """How many rows every list has."""
        return np.diff(self._lists.row_starts)

    def fit(self, rows: Any) -> Self:
        """Learn lists and codebooks from rows like those to add; none are added.

        Parameters
        ----------
        rows : array, path or source of shape (n_rows, n_features)
            Some of them are looked at: 128 per list, or 256 per codeword, drawn at random.
        """
        with self._writing:
            if self.n_rows:
                raise ValueError(
                    f"{self._kind}: it was asked to fit and has {self.n_rows} rows in its lists; "
                    "fit an index without rows."
                )
            source, n_threads = as_opened(rows), self._threads()
            columns = names_of(source)
            if not isinstance(source, Source):
                held = next(incoming(self._kind, source, self.dtype, None, "X"))
                source = ArraySource(held, None, n_threads)
            n_parts = int(self.quantizer.n_subvectors)
            if n_parts > source.n_cols:
                raise ValueError(
                    f"{self._kind}: n_subvectors={n_parts} but X has {source.n_cols} columns; "
                    "lower n_subvectors or pass more columns."
                )
            rng = check_random_state(self.random_state)
            coarse = learn_lists(
                self._kind, source, self.n_lists, 1 << int(self.quantizer.bits), rng,
                unit=self.metric == "cosine", n_threads=n_threads,
            )  # fmt: skip
            quantizer = clone(self.quantizer)  # what was learned before stays until all is learned
            quantizer.set_params(random_state=rng.randint(2**31), n_threads=self.n_threads)
            quantizer.fit(coarse.residuals)
            self._start_from(quantizer, self._space_of(quantizer, coarse.centers))
            self._columns = columns
        return self

    def search(
        self, queries: Any, k: int, *, nprobe: int | None = None, rerank: int | None = None
    ) -> Neighbors:
        """The k nearest rows of every query in the lists it looks into, equals by lower id.

        Parameters
        ----------
        queries : array, path or source of shape (n_queries, n_features)
        k : int
            Where these lists have fewer rows, the rest has id -1 and is infinitely far away.
        nprobe, rerank : int or None
            In place of those of the index.

        Returns
        -------
        Neighbors
            `dists` (float64) and `ids` (int64), each of shape (n_queries, k).
        """
        if nprobe is not None:
            _check_count("nprobe", nprobe)
        check_rerank(self._kind, rerank, self.keep_rows)
        asked, found, now = self._question(queries, k)
        now.ask(asked, found, nprobe or self.nprobe, rerank or self.rerank, self._threads())
        return found

    def search_certified(self, queries: Any, k: int) -> CertifiedNeighbors:
        """The k nearest of all rows, with a proof; `keep_rows` is needed, `nprobe` has no say.

        Lists are looked into by the distance of their centres; one whose rows cannot be near
        enough, as |q - x| >= |q - c| - max |x - c|, is passed over. Within a list codes bound the
        distances of rows from both sides, as for `PQIndex`. The answer is that of `FlatIndex`, to
        the last bit.

        Returns
        -------
        CertifiedNeighbors
            With `n_compared`, how many rows each query had to be compared with.
        """
        asked, found, now = self._question(queries, k)
        proved: CertifiedNeighbors = now.certify(asked, found, self._threads())
        return proved

    def _answer(self, now: ListState, queries: Floats, found: Neighbors, n_threads: int) -> None:
        now.ask(queries, found, self.nprobe, self.rerank, n_threads)

    def _fitted(self) -> ListSpace:
        if self._learned is None:
            raise NotFittedError(
                f"{self._kind}: it has no lists yet; call fit with rows like those to add."
            )
        return self._learned

    def _space_of(self, quantizer: ProductQuantizer, centers: Doubles) -> ListSpace:
        """Lists with these centres, of residuals coded by a fitted quantizer."""
        return list_space(self._kind, quantizer, centers, self.metric, self.dtype, self.n_threads)

    def _start_from(self, quantizer: ProductQuantizer, learned: ListSpace) -> None:
        """Make ready for rows, with what was learned."""
        self.quantizer, self._learned = quantizer, learned
        width = n_bytes(learned.space.n_parts, learned.space.bits)
        self._lists = in_lists(np.empty(0, np.int64), np.empty((0, width), np.uint8), self.n_lists)
        self._coming = []
        if self.keep_rows:
            self._rows = KeptRows(self._kind, np.empty((0, learned.space.n_features), self.dtype))

    def _details(self) -> list[str]:
        n_parts, bits = self.quantizer.n_subvectors, self.quantizer.bits
        return [
            f"{self.n_lists:,} lists of {n_parts} x {bits} bit", f"nprobe {self.nprobe}",
            *told_of_rows(self.keep_rows, self.rerank),
        ]  # fmt: skip

    def _take(self, rows: Floats) -> None:
        learned = self._fitted()
        if not len(rows):
            return
        given = to_length_one(rows).astype(rows.dtype) if self.metric == "cosine" else rows
        labels = nearest_center(self._kind, given, learned.centers, self._threads())
        coder = on_threads(self.quantizer, self.n_threads)
        codes = coder.encode(residuals(given, learned.centers, labels))
        self._coming.append((labels.astype(np.int64), as_bytes(codes, learned.space.bits)))
        if self._rows is not None:
            space, turned = learned.space, learned.turned
            self._rows.extend(rows, gaps(space, rows, codes, turned, labels.astype(np.int64)))

    def _forget_after(self, n_rows: int) -> None:
        self._coming = []
        if self._rows is not None:
            self._rows.truncate(n_rows)

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        labels, codes = out_of_lists(self._lists)
        self._lists = in_lists(labels[kept], codes[kept], self.n_lists)
        if self._rows is not None:
            self._rows = self._rows.only(kept)

    def _state(self) -> ListState:
        if self._coming:
            parts = [out_of_lists(self._lists), *self._coming]
            labels, codes = (np.concatenate(column) for column in zip(*parts, strict=True))
            self._lists, self._coming = in_lists(labels, codes, self.n_lists), []
        return list_state(
            self._kind, self._ids.view, self._fitted(), self._lists, self._rows, self._threads()
        )

    def _held_rows(self) -> Floats | None:
        return None if self._rows is None else self._rows.rows

    def _stored(self) -> tuple[dict[str, Any], Arrays]:
        learned = self._fitted()
        settings, arrays = stored(self.quantizer)
        arrays |= {"centers": learned.centers, "blocks": self._lists.blocks,
                   "row_starts": self._lists.row_starts, "places": self._lists.rows}  # fmt: skip
        if self._rows is not None:
            arrays |= self._rows.stored()
        told = {"n_lists": self.n_lists, "nprobe": self.nprobe, "rerank": self.rerank,
                "keep_rows": self.keep_rows}  # fmt: skip
        return {"quantizer": settings, **told}, arrays

    @classmethod
    def _restored(cls, settings: dict[str, Any], arrays: Arrays, n_threads: int | None) -> Self:
        centers = np.array(arrays.pop("centers"))
        lists = Lists(*(arrays.pop(name) for name in ("blocks", "row_starts", "places")))
        given = {name: settings[name] for name in ("n_lists", "nprobe", "rerank", "keep_rows")}
        index = cls(
            metric=settings["metric"], dtype=settings["dtype"], n_threads=n_threads, **given
        )
        kept = {name: arrays.pop(name) for name in ROW_ARRAYS if index.keep_rows and name in arrays}
        quantizer = restored(settings["quantizer"], arrays, n_threads)
        shape = (index.n_lists, quantizer.n_features_in_)
        if centers.dtype != np.float64 or centers.shape != shape or not np.isfinite(centers).all():
            raise damaged("its centres are not one per list")
        index._start_from(quantizer, index._space_of(quantizer, centers))
        index._lists = lists
        if index.keep_rows:
            index._rows = restored_rows(cls._kind, kept, index.dtype, shape[1])
        return index

    def _check_restored(self, n_rows: int) -> None:
        space = self._fitted().space
        check_lists(self._lists, n_rows, self.n_lists, n_bytes(space.n_parts, space.bits))
        if self._rows is not None and len(self._rows) != n_rows:
            raise damaged("it has not as many rows and ids")


def _check_count(name: str, value: Any) -> None:
    if not whole(1).allows(value):
        raise ParameterError(
            f"IVFPQIndex: {name}={value!r} was given; use a whole number of at least 1."
        )
