"""Codes as they are given back: looked at once, on their way in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def checked_codes(
    who: str, codes: Any, width: int, n_codes: int, name: str
) -> npt.NDArray[np.uint8]:
    """Codes as bytes in C order; refused where they are no table of codes.

    Parameters
    ----------
    who
        The estimator that asks.
    codes
        Anything.
    width
        How many of them a row has.
    n_codes
        Each is less than this.
    name
        What they are called.
    """
    given = np.asarray(codes)
    if given.ndim != 2 or given.shape[1] != width:
        raise ValueError(
            f"{who}: {name} have shape {given.shape} where (n_rows, {width}) was expected; pass "
            f"what {'pack' if name.startswith('packed') else 'encode'} returned."
        )
    whole = given.dtype.kind in "iu" or (
        given.dtype.kind == "f" and bool((given == np.floor(given)).all())
    )
    if not whole or (given.size and not (given.min() >= 0 and given.max() < n_codes)):
        raise ValueError(
            f"{who}: {name} hold other entries than whole numbers from 0 to {n_codes - 1}; pass "
            f"what {'pack' if name.startswith('packed') else 'encode'} returned."
        )
    return np.ascontiguousarray(given, dtype=np.uint8)
