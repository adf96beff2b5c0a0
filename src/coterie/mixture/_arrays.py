"""Arrays that estimators take and publish."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def given_array(who: str, name: str, given: Any, shape: tuple[int, ...], entry: str) -> Floats:
    """What the user gave as float64, finite and of the right shape: an entry for each `entry`."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who}: {name} is no array of numbers ({error}); give an array of shape {shape}."
        ) from error
    if values.shape != shape:
        raise ValueError(
            f"{who}: The parameter '{name}' should have the shape of {shape}, but got "
            f"{values.shape}; give one entry per {entry}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{who}: {name} contains NaN or infinity; give finite numbers.")
    return values


def rounded(values: Floats, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """As the type of X, unless that cannot hold them."""
    if dtype == np.float64:
        return values.astype(dtype)
    size = np.abs(values[values != 0])
    limits = np.finfo(dtype)
    fits = size.size == 0 or (size.min() >= limits.tiny and size.max() <= limits.max)
    return values.astype(dtype if fits else np.float64)
