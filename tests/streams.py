"""Sources for tests that only stream: nothing of them is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from coterie.data import Source


class Stream(Source):
    """Rows that come in pieces of given sizes, again and again the last one, with empty ones among
    them; no length, no rows by number.
    """

    def __init__(self, rows: Any, sizes: Sequence[int] = (7, 0, 64, 1), **options: Any) -> None:
        super().__init__(rows.shape[1], rows.dtype, **options)
        self._all, self._sizes = rows, tuple(sizes)
        self._passes: list[None] = []

    @property
    def n_passes(self) -> int:
        """How often the rows were asked for, by copies too."""
        return len(self._passes)

    def _pieces(self) -> Iterator[Any]:
        self._passes.append(None)
        start = at = 0
        while start < self._all.shape[0]:
            size = self._sizes[at % len(self._sizes)]
            at += 1
            # A copy that is overwritten once the next piece is asked for, as a buffer would be.
            piece = self._all[start : start + size].copy()
            yield piece
            if isinstance(piece, np.ndarray) and piece.dtype.kind == "f":
                piece[:] = np.nan
            start += size


class Afar(Stream):
    """Rows that are with others, as those of a cluster are: nothing of a row is remembered here."""

    remote = True
