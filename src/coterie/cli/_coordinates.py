"""Tables with words or missing cells as points, to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import codes, numbers, one_hot, sorts_of, values_met


def coordinates(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Standardised numbers, and a column of zeros and ones for every category of a text column.

    A missing cell lies in the middle: at the mean of a column, at no category.
    """
    parts = []
    for column in values.T:
        if "word" in sorts_of(column):
            words = sorted(cell for cell in values_met(column) if isinstance(cell, str))
            parts.append(one_hot([codes(column, words)], [len(words)]).toarray())
            continue
        standing = numbers(column)
        spread = np.nanstd(standing) or 1.0
        parts.append(np.nan_to_num((standing - np.nanmean(standing)) / spread)[:, np.newaxis])
    return np.hstack(parts).astype(np.float64)
