"""Tables with words or missing cells as points, to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def coordinates(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Standardised numbers, and a column of zeros and ones for every category of a text column.

    A missing cell lies in the middle: at the mean of a column, at no category.
    """
    parts = []
    for column in values.T:
        words = {cell for cell in column.tolist() if isinstance(cell, str)}
        if words:
            parts.append(np.array([[cell == word for word in sorted(words)] for cell in column]))
            continue
        numbers = column.astype(np.float64)
        deviation = np.nanstd(numbers) or 1.0
        parts.append(np.nan_to_num((numbers - np.nanmean(numbers)) / deviation)[:, np.newaxis])
    return np.hstack(parts).astype(np.float64)
