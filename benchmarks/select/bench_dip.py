"""Hartigans' dip of many values; the dip itself stands beside the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import Call, Outcome, Workload


def make(n_rows: int) -> Arrays:
    """Two Gaussians that meet."""
    rng = np.random.default_rng(0)
    return {"X": rng.normal(size=n_rows) + 2.5 * rng.integers(0, 2, n_rows)}


def coterie_dip(arrays: Arrays) -> Call:
    """Ours, with its p-value."""
    from coterie.select import dip_test

    return lambda: Outcome(np.array([dip_test(arrays["X"]).statistic]))


def diptest_dip(arrays: Arrays) -> Call:
    """The package diptest, with its p-value from a table."""
    from diptest import diptest

    return lambda: Outcome(np.array([diptest(arrays["X"])[0]]))


def judge(arrays: Arrays, dip: NDArray[Any]) -> float:
    """The dip itself, which is the same for both."""
    return float(dip[0])


WORKLOADS = [
    Workload(
        "dip",
        "Hartigans' dip n=1M",
        1_000_000,
        make,
        [peers.coterie(coterie_dip), peers.diptest(diptest_dip)],
        judge,
        judged_by="dip",
    )
]
