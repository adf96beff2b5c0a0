"""Sources made of others: their rows transformed, or only some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.source import Source
from coterie.errors import DataError


class Transformed(Source):
    """The rows of another source as a function makes them, a block at a time, on every pass."""

    def __init__(
        self,
        source: Source,
        transform: Callable[[Any], Any],
        n_cols: int | None = None,
        sparse: bool | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        n_cols = source.n_cols if n_cols is None else n_cols
        super().__init__(
            n_cols, source.dtype if dtype is None else dtype,
            names=source.names if n_cols == source.n_cols else None,
            n_rows=source._n_rows, weights=source.weights, n_threads=source.n_threads,
        )  # fmt: skip
        self.sparse = source.sparse if sparse is None else sparse
        self._source, self._transform = source, transform

    def __str__(self) -> str:
        return str(self._source)

    def _pieces(self) -> Iterator[Any]:
        for block in self._source:
            yield self._transform(block.rows)


class Filtered(Source):
    """Some rows of another source, which is read whole on every pass; numbered anew."""

    def __init__(self, source: Source, keeps: Callable[[Any], npt.NDArray[np.bool_]]) -> None:
        super().__init__(
            source.n_cols, source.dtype, names=source.names, n_threads=source.n_threads
        )
        self.sparse = source.sparse
        self._source, self._keeps = source, keeps
        if source.weights is not None:
            kept = [block.weights[keeps(block.rows)] for block in source]  # type: ignore[index]
            self.weights = np.concatenate(kept)

    def __str__(self) -> str:
        return f"some rows of {self._source}"

    def _pieces(self) -> Iterator[Any]:
        for block in self._source:
            yield block.rows[self._keeps(block.rows)]


class Concatenated(Source):
    """The rows of several sources, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        first = sources[0]
        for other in sources[1:]:
            if other.n_cols != first.n_cols:
                raise DataError(
                    f"{first} has {first.n_cols} columns and {other} has {other.n_cols}; give "
                    "files with the same columns."
                )
        counts = [source._n_rows for source in sources]
        known = None if None in counts else sum(count or 0 for count in counts)
        dtype = np.result_type(*(source.dtype for source in sources))
        super().__init__(first.n_cols, dtype, names=first.names, n_rows=known)
        self.sparse = first.sparse
        self._sources = list(sources)

    def __str__(self) -> str:
        return f"{self._sources[0]} and {len(self._sources) - 1} more"

    def _pieces(self) -> Iterator[Any]:
        for source in self._sources:
            for block in source:
                yield block.rows.astype(self.dtype, copy=False)
