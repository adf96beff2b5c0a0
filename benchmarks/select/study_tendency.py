"""How often `tendency` is wrong: false alarms on structureless rows, and power on labelled sets.

    python -m benchmarks.select.study_tendency alarms 200
    python -m benchmarks.select.study_tendency power FOLDER

FOLDER holds an `index.csv` with the columns battery and dataset, and `battery/dataset.data.gz`.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coterie.select import Tendency, _replay, tendency

Floats = npt.NDArray[np.float64]


def correlated(rng: np.random.Generator, n: int, d: int) -> Floats:
    """One Gaussian whose columns share most of what they are."""
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(n, 1))


#: One heap each, and never more.
STRUCTURELESS: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": correlated,
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
}
SHAPES = [(100, 2), (500, 2), (300, 5), (200, 20)]


def count_alarms(case: tuple[str, tuple[int, int], int]) -> str:
    """How many of some structureless tables are said to have structure, and which part said so."""
    kind, (n, d), n_runs = case
    # Two as good of 99 are too many at a third of 5%, so this changes no decision, but the time.
    _replay._ENOUGH = 2
    found = [
        tendency(STRUCTURELESS[kind](np.random.default_rng([run, n, d]), n, d), random_state=run)
        for run in range(n_runs)
    ]
    parts = [
        sum(3 * p(one) <= 0.05 for one in found)
        for p in (_of_components, lambda one: one.distances.p_value, lambda one: one.replay.p_value)
    ]
    alarms = sum(one.has_structure for one in found)
    return f"| {kind} | {n} | {d} | {alarms / n_runs:.1%} | {' / '.join(map(str, parts))} |"


def _of_components(one: Tendency) -> float:
    return one.component_p_value


def tell_alarms(n_runs: int) -> None:
    """A row of a table for each kind and shape."""
    print("| rows | n | d | false alarms | by components / distances / replay |")
    print("|---|---|---|---|---|")
    cases = [(kind, shape, n_runs) for shape, kind in product(SHAPES, STRUCTURELESS)]
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(count_alarms, cases):
            print(line, flush=True)


def tell_power(folder: Path) -> None:
    """A row of a table for each labelled set."""
    print("| set | n | d | p | components | distances | replay | Hopkins | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    with (folder / "index.csv").open(encoding="utf-8") as file:
        names = dict.fromkeys((row["battery"], row["dataset"]) for row in csv.DictReader(file))
    for battery, name in names:
        X = np.loadtxt(folder / battery / f"{name}.data.gz", ndmin=2)
        start = time.perf_counter()
        one = tendency(X, random_state=0)
        seconds = time.perf_counter() - start
        print(
            f"| {battery}/{name} | {X.shape[0]} | {X.shape[1]} | "
            f"{one.p_value:.2g}{'' if one.has_structure else ' **no**'} | "
            f"{one.component_p_value:.2g} | {one.distances.p_value:.2g} | "
            f"{one.replay.p_value:.2g} | {one.hopkins.statistic:.2f} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1] == "alarms":
        tell_alarms(int(sys.argv[2]))
    else:
        tell_power(Path(sys.argv[2]))
