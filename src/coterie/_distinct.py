"""The distinct values of an array, found by sorting.

NumPy's own `unique` counts in a hash table and gives the interpreter's lock away inside C++ code
that may not be unwound: where a program ends while a daemon thread is there, Python unwinds it
all the same and the process aborts. Sorting keeps the lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The values that occur, each once, in rising order; there must be no NaN among them."""
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
