"""Tables with words or missing cells as points, to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.columns import sorts_of, values_met
from coterie.data.encoding import ColumnCode, encode, learn_levels, learn_measure


def coordinates(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Standardised numbers, and a place for every category of a text column, of equal weight.

    A missing cell lies in the middle.
    """
    return encode(list(values.T), [_code(column) for column in values.T])


def _code(column: npt.NDArray[Any]) -> ColumnCode:
    if "word" not in sorts_of(column):
        return learn_measure("", column)
    words = sorted(cell for cell in values_met(column) if isinstance(cell, str))
    return learn_levels("", column, words)
