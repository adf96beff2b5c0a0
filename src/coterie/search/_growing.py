"""An array that grows at its end: rows are copied a few times at most, however they come."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory

Array = npt.NDArray[Any]

#: What to do where rows do not fit.
_INSTEAD = "add fewer rows, or keep their codes alone (PQIndex, IVFPQIndex)"


class Growing:
    """Rows in a buffer with room to spare.

    What was handed out by `view` stays as it is: rows are only ever written behind its end. A
    buffer that may not be written to, as of a mapped file, is copied when the first rows come. One
    that would not fit into memory is refused, in the name of `who`, with advice what to do instead.
    """

    def __init__(self, rows: Array, who: str, instead: str = _INSTEAD) -> None:
        self._buffer = rows
        self._n_rows = len(rows)
        self._who, self._instead = who, instead

    @property
    def view(self) -> Array:
        """The rows so far."""
        return self._buffer[: self._n_rows]

    def __len__(self) -> int:
        return self._n_rows

    def extend(self, rows: Array) -> None:
        """Put rows behind the last."""
        end = self._n_rows + len(rows)
        if end > len(self._buffer) or not self._buffer.flags.writeable:
            room = max(end, self._n_rows * 3 // 2)
            shape = (room, *self._buffer.shape[1:])
            check_memory(
                self._who, math.prod(shape) * self._buffer.itemsize, f"{room} rows", self._instead
            )
            buffer = np.empty(shape, self._buffer.dtype)
            buffer[: self._n_rows] = self.view
            self._buffer = buffer
        self._buffer[self._n_rows : end] = rows
        self._n_rows = end

    def truncate(self, n_rows: int) -> None:
        """Forget what comes after the first `n_rows`."""
        self._n_rows = n_rows
