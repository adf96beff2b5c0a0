"""Columns of text as Arrow has them: every word once, and which of them each cell holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Words:
    """A column of text that can be asked what an array of str and None can, without making one.

    `places` has for every cell the place of its word among `values`, -1 where it is missing; of
    `values`, which differ, not all need be there. What costs time costs it once per word.
    """

    places: npt.NDArray[np.int32]
    values: npt.NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.places.shape

    @property
    def size(self) -> int:
        return self.places.size

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, which: Any) -> Any:
        some = self.places[which]
        if isinstance(some, np.ndarray):
            return Words(some, self.values)
        return None if some < 0 else self.values[some]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        cells = np.append(self.values, [None])[self.places]  # the last, -1, is None
        return cells if dtype is None else cells.astype(dtype)

    def tolist(self) -> list[Any]:
        """The cells."""
        return list(np.asarray(self))

    def missing(self) -> npt.NDArray[np.bool_]:
        """Which cells are missing."""
        return self.places < 0

    def met(self) -> list[Any]:
        """The words that are there, each once, in the order in which they are met."""
        seen = self.places[self.places >= 0][::-1]
        first = np.full(len(self.values), -1)
        first[seen] = np.arange(seen.size)[::-1]  # of a place that comes often, the last one stays
        there = np.flatnonzero(first >= 0)
        return list(self.values[there[np.argsort(first[there])]])

    def among(self, known: dict[Any, int], missing: int, unknown: int) -> npt.NDArray[np.int32]:
        """For every cell the number of its word, or one of the others."""
        numbers = [*(known.get(word, unknown) for word in self.values), missing]
        return np.array(numbers, dtype=np.int32)[self.places]


def words_of(column: Any) -> Words | None:
    """The words of an Arrow column of strings; None of nothing but nulls."""
    import pyarrow as pa

    if column.null_count == len(column):
        return None
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    chunks = chunked.dictionary_encode().unify_dictionaries().chunks
    places = [chunk.indices.fill_null(-1).to_numpy() for chunk in chunks]
    values = np.array([*chunks[0].dictionary.to_pylist(), None], dtype=object)[:-1]
    return Words(np.concatenate(places), values)
