"""Hartigans' dip test: has one column of numbers a single mode?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, one_of
from coterie._config import resolve_n_threads
from coterie._doors import checked
from coterie._kernels import kernels
from coterie._random import check_random_state
from coterie.select._dip_table import LOG_P, ROOT_N_DIPS, SIZES

__all__ = ["DipTest", "dip_p_value", "dip_test", "log_dip_p", "measure_dips"]

Floats = npt.NDArray[np.float64]

#: Samples below this size are compared with as many uniform ones of exactly their size.
_SMALL = 30
#: How many of those.
_DRAWS = 10_000
#: Numbers drawn together: 8 MB.
_TILE_NUMBERS = 1 << 20
#: From so many numbers on, sorting them by their bits is faster than one at a time,
_MANY = 1 << 15
#: and with more threads than these also faster than by vectors, which NumPy 2 does on one thread.
_FEW_THREADS = 4
_SORTS_IN_VECTORS = int(np.__version__.split(".")[0]) >= 2
_METHODS = one_of("auto", "table", "simulate")


@dataclass(frozen=True)
class DipTest:
    """The dip of a sample, the chance of one as large, and where the mode is.

    `low` and `high` are the ends of the modal interval: the nearest unimodal distribution rises
    fastest between them.
    """

    statistic: float
    p_value: float
    low: float
    high: float
    n_values: int


def dip_test(
    values: Any,
    *,
    method: str = "auto",
    random_state: Any = None,
    n_threads: int | None = None,
) -> DipTest:
    """Test whether numbers come from a distribution with a single mode.

    Hartigan & Hartigan (1985). The dip is the largest distance between the distribution function
    of the sample and the nearest one that is unimodal (convex up to a mode, concave after it),

        dip = min over unimodal G of max over x of |F(x) - G(x)|,

    computed exactly: O(n log n) to sort, then O(n) per round of which there are few, 56 bytes per
    value. A sample of distinct values has a dip of 1 / (2 n) at least, the point mass one of 0.

    The chance is that of a dip as large among samples of the uniform distribution, the hardest
    unimodal one, so it is too large, never too small, for others when there are many rows. Values
    that were rounded until many are equal have larger dips than the chance accounts for.

    Parameters
    ----------
    values : array of shape (n,)
    method : {"auto", "table", "simulate"}, default="auto"
        Where the chance comes from. "table": sqrt(n) * dip among the quantiles of simulated
        samples of some sizes, linear in sqrt(n) between these and in the logarithm of the chance;
        past the largest quantile the logarithm goes on as a line, which overstates the chance.
        "simulate": 10000 uniform samples of this size; the chance is 1/10001 at least. "auto":
        "simulate" below 30 values.
    random_state : int, RandomState or None
        For "simulate".
    n_threads : int or None
        None: the option of the same name.
    """
    who = "dip_test"
    check_params(who, {"method": method}, {"method": _METHODS})
    x = checked(who, values, "values", ensure_2d=False, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(
            f"{who}: values has shape {x.shape} where one column was expected; test one column at "
            "a time."
        )
    threads = resolve_n_threads(n_threads, who)
    x = _sorted(x, threads)
    dips, ends = measure_dips(x[np.newaxis], threads)
    if method == "simulate" or (method == "auto" and x.size < _SMALL):
        p_value = _simulated_p(float(dips[0]), x.size, random_state, n_threads)
    else:
        p_value = dip_p_value(float(dips[0]), x.size)
    low, high = (float(x[at]) for at in ends[0])
    return DipTest(float(dips[0]), p_value, low, high, x.size)


def _sorted(values: Floats, n_threads: int) -> Floats:
    """A sorted copy: by NumPy where it sorts in vectors, else by all threads if there are many."""
    if values.size < _MANY or (_SORTS_IN_VECTORS and n_threads <= _FEW_THREADS):
        return np.sort(values)
    values = values.copy()
    kernels.sort_numbers(values, n_threads)
    return values


def measure_dips(sorted_rows: Floats, n_threads: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The dip of each row of sorted numbers, and the places of the ends of its modal interval."""
    n_samples = sorted_rows.shape[0]
    dips, ends = np.empty(n_samples), np.empty((n_samples, 2), dtype=np.int64)
    kernels.measure_dips(np.ascontiguousarray(sorted_rows), dips, ends, n_threads)
    return dips, ends


def dip_p_value(dip: float, n_values: int) -> float:
    """The chance of a dip as large in a uniform sample of this size, from the table."""
    return float(np.exp(log_dip_p(dip, n_values)))


def log_dip_p(dip: float, n_values: int) -> float:
    """The logarithm of that chance, which never ends in 0."""
    if n_values < SIZES[0]:  # no sample this small tells anything
        return 0.0
    row = _quantiles_at(n_values)
    root = float(np.sqrt(n_values)) * dip
    if root > row[-1]:
        slope = (LOG_P[-1] - LOG_P[-2]) / (row[-1] - row[-2])
        return float(LOG_P[-1] + slope * (root - row[-1]))
    return float(np.interp(root, row, LOG_P, left=0.0))


@lru_cache(maxsize=1024)
def _quantiles_at(n_values: int) -> Floats:
    """The quantiles of sqrt(n) * dip for a sample size, linear in sqrt(n) between those known."""
    roots = np.sqrt(SIZES)
    at = min(float(np.sqrt(n_values)), roots[-1])  # they hardly change any more
    right = int(np.clip(np.searchsorted(roots, at), 1, roots.size - 1))
    share = (at - roots[right - 1]) / (roots[right] - roots[right - 1])
    return (1 - share) * ROOT_N_DIPS[right - 1] + share * ROOT_N_DIPS[right]


def _simulated_p(dip: float, n_values: int, random_state: Any, n_threads: int | None) -> float:
    """The chance of a dip as large among uniform samples of exactly this size."""
    null = simulate_dips(
        n_values, _DRAWS, check_random_state(random_state), resolve_n_threads(n_threads, "dip_test")
    )
    # Equal dips may differ by rounding.
    return float((1 + np.count_nonzero(null >= dip * (1 - 1e-12))) / (1 + _DRAWS))


def simulate_dips(
    n_values: int, n_draws: int, rng: np.random.RandomState, n_threads: int
) -> Floats:
    """Dips of uniform samples: sums of exponential gaps are sorted uniform values, to scale."""
    step = max(1, _TILE_NUMBERS // n_values)
    parts = []
    for start in range(0, n_draws, step):
        gaps = rng.standard_exponential((min(step, n_draws - start), n_values))
        parts.append(measure_dips(np.cumsum(gaps, axis=1), n_threads)[0])
    return np.concatenate(parts)
