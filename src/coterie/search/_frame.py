"""The frame of the filter: shifted and scaled so that rows are near zero and about as long as one.

It decides how many rows the filter lets through, and no answer: any frame is right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: Rows that are looked at.
_SAMPLE = 4096


class SearchFrame(NamedTuple):
    """A row x is seen as x * scale - shift."""

    shift: npt.NDArray[Any]
    scale: float


def search_frame(rows: npt.NDArray[Any], metric: str) -> SearchFrame:
    """A frame for these rows; products and angles do not survive a shift, so they have none."""
    sample = rows[:: max(1, len(rows) // _SAMPLE)].astype(np.float64)
    shift = np.zeros(rows.shape[1])
    if metric in ("euclidean", "sqeuclidean") and len(sample):
        shift = sample.mean(axis=0)
    reach = float(np.abs(sample - shift).max(initial=0))
    scale = 2.0 ** -np.clip(np.frexp(reach)[1], -120, 120)
    return SearchFrame((shift * scale).astype(rows.dtype), float(scale))
