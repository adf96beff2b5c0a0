"""CSR rows on their way to the kernels: some at a time are made dense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._doors import dense
from coterie.distance._forms import Form

#: Numbers of a tile of rows that are made dense together: 16 MB of float64.
_TILE_NUMBERS = 1 << 21


@dataclass(frozen=True)
class SparseRows:
    """Checked CSR rows and the form that a metric gives them once they are dense.

    A form looks at each row by itself, so the tiles have the bits of the whole.
    """

    csr: Any
    form: Form

    @property
    def shape(self) -> tuple[int, int]:
        """Of the rows as they are compared."""
        return self.csr.shape[0], self._dense(slice(0, 1)).shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the rows as they are compared."""
        return self._dense(slice(0, 1)).dtype

    def __getitem__(self, part: slice) -> SparseRows:
        return replace(self, csr=self.csr[part])

    def astype(self, dtype: Any) -> SparseRows:
        """The same rows in another precision."""
        return replace(self, csr=self.csr.astype(dtype))

    def copy(self) -> SparseRows:
        """The same rows in memory of their own."""
        return replace(self, csr=self.csr.copy())

    def whole(self, who: str) -> npt.NDArray[Any]:
        """All rows as they are compared, refused where they would not fit."""
        return self.form(dense(who, self.csr))

    def tiles(self) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
        """Some rows at a time, dense and in the form of the metric, and which they are."""
        n_rows, n_cols = self.csr.shape
        step = max(1, _TILE_NUMBERS // max(1, n_cols))
        for start in range(0, n_rows, step):
            part = slice(start, min(n_rows, start + step))
            yield part, self._dense(part)

    def _dense(self, part: slice) -> npt.NDArray[Any]:
        return self.form(self.csr[part].toarray())


#: Rows as they are compared: an array, or CSR rows that become one a tile at a time.
Compared = npt.NDArray[Any] | SparseRows


def in_tiles(rows: Compared) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """The rows in arrays: one where they are one."""
    if isinstance(rows, SparseRows):
        yield from rows.tiles()
    else:
        yield slice(0, rows.shape[0]), rows
