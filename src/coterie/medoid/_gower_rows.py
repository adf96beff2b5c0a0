"""Rows of a mixed table, back from the numbers that Gower's metric compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def rows_of_table(
    prepared: npt.NDArray[np.float64], categories: Sequence[Sequence[Any] | None]
) -> npt.NDArray[np.object_]:
    """The cells: numbers (times in seconds), categories by their values, None where missing."""
    cells = np.empty(prepared.shape, dtype=object)
    for column, values in enumerate(categories):
        for row, number in enumerate(prepared[:, column].tolist()):
            if np.isnan(number):
                cells[row, column] = None
            else:
                cells[row, column] = number if values is None else values[int(number)]
    return cells
