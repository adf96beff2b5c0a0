"""How often `tendency` is wrong: false alarms on structureless rows, and power on labelled sets.

    python -m benchmarks.select.study_tendency alarms 200 KEPT
    python -m benchmarks.select.study_tendency power FOLDER

KEPT is a file that cells are appended to as they are counted, one JSON line each; those it has are
not counted again. FOLDER holds an `index.csv` with the columns battery and dataset,
`battery/dataset.data.gz`, and, if it is there, `../basics` and `../mixed` with tables by their
names below. Four sets come with scikit-learn.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import set_options
from coterie.select import _replay, tendency
from coterie.select.tendency import LEVEL

Floats = npt.NDArray[np.float64]
Kind = Callable[[np.random.Generator, int, int], Floats]


def correlated(rng: np.random.Generator, n: int, d: int) -> Floats:
    """One Gaussian with a random covariance of condition 100."""
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (rng.normal(size=(n, d)) * np.geomspace(1, 10, d)) @ axes


def askew(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Uniform in a box with sides from 1 to 2 that lies askew."""
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (rng.random((n, d)) * np.geomspace(1, 2, d)) @ axes


def ball(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Uniform in a ball."""
    away = rng.normal(size=(n, d))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    return away * rng.random((n, 1)) ** (1 / d)


def simplex(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Uniform in a triangle, a tetrahedron, ..., all of them corners."""
    shares = rng.exponential(size=(n, d + 1))
    return (shares / shares.sum(axis=1, keepdims=True))[:, :d]


def factor(rng: np.random.Generator, n: int, d: int) -> Floats:
    """One skewed cause of all columns, and noise."""
    return rng.exponential(size=(n, 1)) * rng.normal(size=d) + rng.normal(size=(n, d)) / 2


#: One heap each, and never more.
STRUCTURELESS: dict[str, Kind] = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "askew": askew,
    "ball": ball,
    "simplex": simplex,
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": correlated,
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "factor": factor,
    "student 3": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "rounded": lambda rng, n, d: rng.normal(40, 12, size=(n, d)).round(),
}
#: The first of the draws that are counted: none that anything was chosen by.
_FIRST = 70_000
SHAPES = [*product((50, 200, 1000), (1, 2, 10, 50)), (50, 1000), (200, 1000)]

#: Further labelled tables: their folder, and the columns that are not measured.
TABLES = {
    "basics/banknote": ("Status",),
    "basics/crabs": ("sp", "sex", "index"),
    "basics/diabetes": ("class",),
    "basics/faithful": (),
    "basics/thyroid": ("Diagnosis",),
    "mixed/penguins": ("species", "island", "sex", "year"),
}
BUNDLED = ("iris", "wine", "breast_cancer", "digits")


def count_alarms(kind: str, n: int, d: int, n_runs: int) -> dict[str, Any]:
    """How many of some structureless tables are said to have structure, and which part said so."""
    # One as good of 99 is too many at a third of 5%, so the first ends the replays.
    _replay._ENOUGH = 1
    found = [
        tendency(STRUCTURELESS[kind](np.random.default_rng([run, n, d]), n, d), random_state=run)
        for run in range(_FIRST, _FIRST + n_runs)
    ]
    parts = np.array([
        [3 * one.projection_p_value <= LEVEL for one in found],
        [3 * one.distances.p_value <= LEVEL for one in found],
        [one.replay.p_value <= 1 / 100 for one in found],
    ])  # fmt: skip
    return {
        "kind": kind, "n": n, "d": d, "n_runs": n_runs,
        "alarms": int(parts.any(axis=0).sum()), "parts": parts.sum(axis=1).tolist(),
    }  # fmt: skip


def tell_alarms(n_runs: int, kept: Path) -> None:
    """Count what is not kept yet, small tables first, and tell a row of a table for each shape."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    cells = {(c["kind"], c["n"], c["d"]): c for c in map(json.loads, lines)}
    for (n, d), kind in product(SHAPES, STRUCTURELESS):
        if (kind, n, d) not in cells:
            cells[kind, n, d] = count_alarms(kind, n, d, n_runs)
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(cells[kind, n, d]) + "\n")
    print(f"| n | d | {' | '.join(STRUCTURELESS)} |")
    print("|---|---|" + "---|" * len(STRUCTURELESS))
    for n, d in SHAPES:
        told = (cells[kind, n, d] for kind in STRUCTURELESS)
        shares = [f"{c['alarms'] / c['n_runs']:.1%}" for c in told]
        print(f"| {n} | {d} | {' | '.join(shares)} |")
    by_part = np.sum([c["parts"] for c in cells.values()], axis=0)
    print(f"By components and columns / distances / replay: {' / '.join(map(str, by_part))}")


def labelled_sets(folder: Path) -> Iterator[tuple[str, Floats]]:
    """Names and rows: the suite as it is given, other tables standardised."""
    with (folder / "index.csv").open(encoding="utf-8") as file:
        names = dict.fromkeys((row["battery"], row["dataset"]) for row in csv.DictReader(file))
    for battery, name in names:
        yield f"{battery}/{name}", np.loadtxt(folder / battery / f"{name}.data.gz", ndmin=2)
    for name, left_out in TABLES.items():
        path = folder.parent / f"{name}.csv"
        if path.exists():
            yield name, standardised(read_numbers(path, left_out))
    from sklearn import datasets

    for name in BUNDLED:
        X = getattr(datasets, f"load_{name}")(return_X_y=True)[0]
        yield f"sklearn/{name}", X if name == "digits" else standardised(X)


def read_numbers(path: Path, left_out: tuple[str, ...]) -> Floats:
    """The rows of a table without empty cells, some columns left out."""
    with path.open(encoding="utf-8") as file:
        rows = [[row[c] for c in row if c not in left_out] for row in csv.DictReader(file)]
    return np.array([row for row in rows if not {"", "NA"} & set(row)], dtype=float)


def standardised(X: Floats) -> Floats:
    """Columns of no mean and unit variance."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def tell_power(folder: Path) -> None:
    """A row of a table for each labelled set."""
    print("| set | n | d | p | components | columns | distances | replay | Hopkins |")
    print("|---|---|---|---|---|---|---|---|---|")
    found = []
    for name, X in labelled_sets(folder):
        one = tendency(X, random_state=0)
        found.append(one.has_structure)
        print(
            f"| {name} | {X.shape[0]} | {X.shape[1]} | "
            f"{one.p_value:.2g}{'' if one.has_structure else ' **no**'} | "
            f"{one.component_p_value:.2g} | {one.column_p_value:.2g} | "
            f"{one.distances.p_value:.2g} | "
            f"{one.replay.p_value:.2g} | {one.hopkins.statistic:.2f} |",
            flush=True,
        )
    print(f"{sum(found)} of {len(found)} found.")


if __name__ == "__main__":
    set_options(n_threads=1)
    if sys.argv[1] == "alarms":
        tell_alarms(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        tell_power(Path(sys.argv[2]))
