"""Exact search among all rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.neighbors.index import Neighbors
from coterie.search._frame import SearchFrame, search_frame
from coterie.search._growing import Growing
from coterie.search._index import Floats, Ints, SearchIndex
from coterie.search._index_file import Arrays, damaged

__all__ = ["FlatIndex"]


class _Now(NamedTuple):
    ids: Ints
    rows: Floats
    frame: SearchFrame


class FlatIndex(SearchIndex):
    """All rows, searched exactly.

    The k rows x with the smallest value for a query q, equals by lower id:

    - ``"sqeuclidean"``: sum (x - q)^2, and its root for ``"euclidean"``
    - ``"inner_product"``: -q.x, so that the largest product comes first
    - ``"cosine"``: 1 - q.x / (|q| |x|); 0 for two rows of zeros and 1 for one

    Values are summed in float64, column by column, on the rows as they are held. A filter in 16-bit
    whole numbers, with a bound of its error for every row, decides which rows are summed, and no
    row that could be among the k is left out: answers have the same bits on any number of threads
    and on every processor.

    A search takes O(n_queries n_rows n_features) time, about 4 ns per query and row of 128
    columns on two cores with AVX-512. Memory: the rows once, 8 bytes per row for ids, and some
    kilobytes per query.

    Parameters
    ----------
    metric : {"euclidean", "sqeuclidean", "inner_product", "cosine"}
    dtype : {"float32", "float64"}
        What rows and queries are held as.
    n_threads : int or None

    Examples
    --------
    >>> from coterie.search import FlatIndex
    >>> index = FlatIndex().add([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]], ids=[10, 20, 30])
    >>> found = index.search([[2.0, 0.0]], k=2)
    >>> found.ids.tolist(), found.dists.tolist()
    ([[30, 10]], [[1.0, 2.0]])
    """

    _kind = "FlatIndex"

    def __init__(
        self,
        *,
        metric: str = "euclidean",
        dtype: npt.DTypeLike = "float32",
        n_threads: int | None = None,
    ) -> None:
        super().__init__(metric, dtype, n_threads)
        self._rows: Growing | None = None

    @property
    def n_features(self) -> int | None:
        """Columns of the rows; None before the first came."""
        return None if self._rows is None else int(self._rows.view.shape[1])

    def rows(self) -> Floats:
        """A copy of the rows, in the order of `ids`."""
        return np.empty((0, 0), self.dtype) if self._now is None else self._now.rows.copy()

    def _take(self, rows: Floats) -> None:
        if self._rows is None:
            self._rows = Growing(np.empty((0, rows.shape[1]), self.dtype), self._kind)
        self._rows.extend(rows)

    def _forget_after(self, n_rows: int) -> None:
        if self._rows is not None:
            self._rows.truncate(n_rows)
            if self._now is None:
                self._rows = None

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        assert self._rows is not None
        self._rows = Growing(self._rows.view[kept], self._kind)

    def _state(self) -> _Now:
        assert self._rows is not None
        rows = self._rows.view
        return _Now(self._ids.view, rows, search_frame(rows, self.metric))

    def _answer(self, now: _Now, queries: Floats, found: Neighbors, n_threads: int) -> None:
        kernels.search_flat(
            now.rows, now.ids, now.frame.shift, now.frame.scale, self.metric, queries, *found,
            n_threads,
        )  # fmt: skip

    def _held_rows(self) -> Floats | None:
        return None if self._rows is None else self._rows.view

    def _stored(self) -> tuple[dict[str, Any], Arrays]:
        return {}, {} if self._rows is None else {"rows": self._rows.view}

    @classmethod
    def _restored(cls, settings: dict[str, Any], arrays: Arrays, n_threads: int | None) -> Self:
        index = cls(metric=settings["metric"], dtype=settings["dtype"], n_threads=n_threads)
        rows = arrays.get("rows")
        if rows is not None:
            if rows.dtype != index.dtype or rows.ndim != 2 or rows.shape[1] < 1:
                raise damaged("its rows are of another type or shape")
            index._rows = Growing(rows, cls._kind)
        return index

    def _check_restored(self, n_rows: int) -> None:
        if (0 if self._rows is None else len(self._rows)) != n_rows:
            raise damaged("it has not as many rows and ids")
