"""What an inverted file has learned: centres of lists, codebooks, and where queries look."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.neighbors.index import Neighbors
from coterie.search._code_space import CodeSpace, Doubles, Quantizer
from coterie.search.flat import FlatIndex

Floats = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

_PRODUCTS = ("inner_product", "cosine")


class ListQueries(NamedTuple):
    """Queries as the kernels take them, in the space of the codes."""

    words: npt.NDArray[np.float32]
    starts: Ints
    centers: Doubles
    queries: Doubles


class ListSpace(NamedTuple):
    """What `fit` leaves."""

    centers: Doubles
    space: CodeSpace
    coarse: FlatIndex  # of the centres
    turned: Doubles  # the centres among the codes
    words: npt.NDArray[np.float32]
    longest_center: float
    longest_word: float  # no code stands for more

    def probes(self, queries: Floats, nprobe: int, n_threads: int) -> Ints:
        """The lists that queries look into, nearest first; queries are checked."""
        shape = (len(queries), min(nprobe, len(self.centers)))
        found = Neighbors(np.empty(shape), np.empty(shape, dtype=np.int64))
        self.coarse._answer(self.coarse._now, queries, found, n_threads)
        return found.ids

    def asked(self, who: str, queries: Floats) -> ListQueries:
        """Queries in the space; those whose tables float32 cannot hold are refused."""
        placed = self.space.place(queries)
        longest = float(np.sqrt(np.square(placed).sum(axis=1).max(initial=0)))
        reach = (longest + self.longest_center + self.longest_word) ** 2
        if self.space.metric in _PRODUCTS:
            reach = longest * self.longest_word
        if not reach < 1e37:
            raise ValueError(
                f"{who}: queries are so far from the codewords that float32 overflows; "
                "scale rows and queries down."
            )
        return ListQueries(self.words, self.space.starts, self.turned, placed)


def list_space(
    who: str,
    quantizer: Quantizer,
    centers: Doubles,
    metric: str,
    dtype: npt.DTypeLike,
    n_threads: int | None,
) -> ListSpace:
    """Lists with these centres, of residuals coded by a fitted quantizer."""
    space = CodeSpace(who, quantizer, metric)
    by = "inner_product" if metric in _PRODUCTS else "sqeuclidean"
    coarse = FlatIndex(metric=by, dtype=dtype, n_threads=n_threads).add(centers)
    words = space.word_columns
    longest_center = float(np.sqrt(np.square(centers).sum(axis=1).max()))
    longest_word = float(np.sqrt(np.square(words, dtype=np.float64).max(axis=1).sum()))
    return ListSpace(
        centers, space, coarse, space.turn(centers), words,
        longest_center * (1 + 1e-9), longest_word * (1 + 1e-9),
    )  # fmt: skip
