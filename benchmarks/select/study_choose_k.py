"""How often `choose_k` sees clusters where there are none, and none where there are.

    python -m benchmarks.select.study_choose_k 20
    python -m benchmarks.select.study_choose_k 20 90000     # other draws

Each cell has two counts: by the gap alone, and by all criteria together.
The structureless tables are those of `study_tendency`; groups are round, of unit variance, and
their means at least so many deviations apart.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from benchmarks.select.study_tendency import STRUCTURELESS, Kind
from coterie import set_options
from coterie.select import choose_k

Floats = npt.NDArray[np.float64]

SHAPES = ((60, 2), (200, 2), (200, 10), (1000, 5))
#: The first of the draws that are counted: none that anything was chosen by.
_FIRST = 70_000


def groups(n_groups: int, apart: float) -> Kind:
    """Round groups whose means are drawn from a Gaussian, which is widened until they are apart."""

    def draw(rng: np.random.Generator, n: int, d: int) -> Floats:
        means = np.zeros((1, d))
        width = apart / np.sqrt(2 * d)
        while len(means) < n_groups:
            mean = rng.normal(size=d) * width
            if np.linalg.norm(means - mean, axis=1).min() >= apart:
                means = np.vstack([means, mean])
            width *= 1.02
        return means[rng.integers(0, n_groups, n)] + rng.normal(size=(n, d))

    return draw


GROUPS = {
    "2 groups, 4 apart": groups(2, 4.0),
    "3 groups, 5 apart": groups(3, 5.0),
    "5 groups, 6 apart": groups(5, 6.0),
}


def count(kind: Kind, n: int, d: int, n_runs: int, first: int) -> tuple[int, int]:
    """How often the gap alone speaks for more than one cluster, and `choose_k` as a whole."""
    by_gap = by_all = 0
    for run in range(first, first + n_runs):
        rows = kind(np.random.default_rng([run, n, d]), n, d)
        found = choose_k(rows, k=6, n_references=10, random_state=run)
        by_gap += not found.curves["gap"].says_one
        by_all += found.has_structure
    return by_gap, by_all


def main(n_runs: int, first: int = _FIRST) -> None:
    """Print a row of a table for each kind."""
    print(f"| of {n_runs} tables | {' | '.join(f'{n} x {d}' for n, d in SHAPES)} |")
    print("|---|" + "---|" * len(SHAPES))
    for name, kind in {**STRUCTURELESS, **GROUPS}.items():
        cells = [count(kind, n, d, n_runs, first) for n, d in SHAPES]
        print(f"| {name} | {' | '.join(f'{gap}, {all_}' for gap, all_ in cells)} |", flush=True)


if __name__ == "__main__":
    set_options(n_threads=1)
    main(*map(int, sys.argv[1:]))
