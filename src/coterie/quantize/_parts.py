"""How columns are cut into parts, each of which has a codebook of its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def part_starts(n_cols: int, n_parts: int) -> Ints:
    """Where each part begins, and the end of the last: part m has columns starts[m]:starts[m + 1].

    Parts are as wide as each other; where `n_parts` does not divide `n_cols`, the first
    ``n_cols % n_parts`` have one column more.
    """
    width, n_wider = divmod(n_cols, n_parts)
    parts = np.arange(n_parts + 1, dtype=np.int64)
    return np.asarray(parts * width + np.minimum(parts, n_wider))


def part_of_column(starts: Ints) -> Ints:
    """The part of every column."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))
