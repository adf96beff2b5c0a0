"""Random states from what a user gives as `random_state`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from sklearn.utils import check_random_state as sklearn_check_random_state


class _NoEntropy(ISeedSequence):
    """Stands where NumPy would ask the system for randomness that a seed then replaces."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return _ONES[:n_words]


#: NumPy reads them one by one, which is quicker from a list than from an array.
_ONES = [1] * 624
_NO_ENTROPY: Any = _NoEntropy()  # of no type that NumPy's stubs let a generator take


def check_random_state(seed: Any) -> np.random.RandomState:
    """As scikit-learn's function of this name, with the same random numbers.

    A fraction of its time for a seed that is an integer: that is felt where a fit takes less than a
    millisecond.
    """
    if not isinstance(seed, (int, numbers.Integral)):  # asking for int first is quicker
        return sklearn_check_random_state(seed)
    rng = np.random.RandomState(np.random.MT19937(_NO_ENTROPY))
    rng.seed(int(seed))
    return rng
