"""Arrays that estimators take and publish."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

Floats = npt.NDArray[np.float64]


def given_array(who: str, name: str, given: Any, shape: tuple[int, ...], entry: str) -> Floats:
    """What the user gave as float64, of the right shape; it has an entry for each `entry`."""
    if np.ndim(given) == 0:  # which check_array refuses
        values = np.asarray(given, dtype=np.float64)
    else:
        values = check_array(
            given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name
        )
    if values.shape != shape:
        raise ValueError(
            f"{who}: The parameter '{name}' should have the shape of {shape}, but got "
            f"{values.shape}; give one entry a {entry}."
        )
    return np.array(values)


def rounded(values: Floats, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """As the type of X, unless that cannot hold them."""
    size = np.abs(values[values != 0])
    limits = np.finfo(dtype)
    fits = size.size == 0 or (size.min() >= limits.tiny and size.max() <= limits.max)
    return values.astype(dtype if fits else np.float64)
