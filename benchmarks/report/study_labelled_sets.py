"""The labels of `coterie.study` on labelled sets, beside three methods that are told how many.

    python -m benchmarks.report.study_labelled_sets FOLDER [KEPT]
    python -m benchmarks.report.study_labelled_sets noise RUNS

FOLDER holds `benchmarks/` (an `index.csv` with the columns battery and dataset,
`battery/dataset.data.gz` and `dataset.labelsN.gz`), `basics/` and `mixed/` with the tables below.
KEPT is a file that results are appended to as they come, one JSON line each; those it has are not
computed again. With several label vectors the best counts; rows labelled 0 there are noise and do
not count. `study` is given the raw table and no number of clusters; k-means and the Gaussian
mixture are given the true number, and HDBSCAN its default `min_cluster_size`, all of them the
standardised points that `study` makes of the table. `noise` counts the structureless tables in
which `study` finds clusters.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

import coterie
from coterie.evaluate import adjusted_rand_score, normalized_clustering_accuracy
from coterie.report._prepared import prepare

#: Labelled tables, and the columns that are the label.
TABLES = {
    "mixed/penguins": ["species"], "mixed/zoo": ["type"], "basics/banknote": ["Status"],
    "basics/crabs": ["sp", "sex"], "basics/diabetes": ["class"], "basics/thyroid": ["Diagnosis"],
}  # fmt: skip
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
#: Columns that number the rows but do not look like it.
WITHOUT = {"basics/crabs": ["index"]}


def labelled_sets(folder: Path) -> Iterator[tuple[str, Any, list[Any]]]:
    """Name, table and label vectors of every set; rows of noise are labelled -1."""
    for name in BUNDLED:
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        yield name, found.data, [found.target.to_numpy()]
    for name, columns in TABLES.items():
        table = pd.read_csv(folder / f"{name}.csv")
        labels = pd.factorize(table[columns].astype(str).agg(" ".join, axis=1))[0]
        yield name, table.drop(columns=[*columns, *WITHOUT.get(name, [])]), [labels]
    with (folder / "benchmarks" / "index.csv").open(encoding="utf-8") as file:
        index = dict.fromkeys((row["battery"], row["dataset"]) for row in csv.DictReader(file))
    for battery, name in index:
        path = folder / "benchmarks" / battery
        rows = np.loadtxt(path / f"{name}.data.gz", ndmin=2)
        labels = [np.loadtxt(one, dtype=int) - 1 for one in sorted(path.glob(f"{name}.labels*.gz"))]
        yield f"{battery}/{name}", rows, labels


def scores(truth: list[Any], labels: Any) -> tuple[float, float]:
    """ARI and NCA with the label vector that agrees best; noise of the truth does not count."""
    found = [
        (adjusted_rand_score(one[one >= 0], labels[one >= 0]),
         normalized_clustering_accuracy(one[one >= 0], labels[one >= 0]))
        for one in truth
    ]  # fmt: skip
    return max(found)


def run(name: str, table: Any, truth: list[Any]) -> dict[str, Any]:
    """The line of a set."""
    study = coterie.study(table, random_state=0, name=name)
    points = prepare(table).points
    k = int(truth[0].max()) + 1
    others = {
        "k-means": coterie.KMeans(k, random_state=0).fit(points).labels_,
        "GMM": coterie.GaussianMixture(k, random_state=0).fit(points).predict(points),
        "HDBSCAN": coterie.HDBSCAN().fit(points).labels_,
    }
    method = next((one["name"] for one in study.summary["methods"] if one["chosen"]), "none")
    return {
        "name": name, "rows": len(points), "k": k, "found": study.n_clusters, "method": method,
        "confidence": study.summary["verdict"]["confidence"],
        "study": scores(truth, study.labels),
        **{other: scores(truth, np.asarray(labels)) for other, labels in others.items()},
    }  # fmt: skip


def _correlated(rng: np.random.RandomState, n: int, d: int) -> Any:
    return (rng.normal(size=(n, d)) * np.geomspace(1, 10, d)) @ rng.normal(size=(d, d))


def _with_holes(rng: np.random.RandomState, n: int, d: int) -> Any:
    table = rng.lognormal(size=(n, d))
    table[rng.random_sample(table.shape) < 0.2] = np.nan
    return table


#: One heap each: even, skewed, long-tailed, correlated, rounded, with missing cells, of levels.
STRUCTURELESS: dict[str, Callable[[np.random.RandomState, int, int], Any]] = {
    "uniform": lambda rng, n, d: rng.random_sample((n, d)),
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": _correlated,
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "student 3": lambda rng, n, d: rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
    "skewed": lambda rng, n, d: np.exp(_correlated(rng, n, d) / 10),
    "rounded": lambda rng, n, d: np.rint(rng.normal(40, 12, (n, d))),
    "with holes": _with_holes,
    "truths": lambda rng, n, d: rng.randint(0, 2, (n, max(d, 4))),
}


def noise(n_runs: int) -> None:
    """Count false alarms: tables of one heap, of several shapes."""
    total = 0
    for kind, draw in STRUCTURELESS.items():
        for n_rows, n_cols in ((60, 2), (300, 2), (300, 8), (1000, 3)):
            alarms = sum(
                coterie.study(draw(np.random.RandomState(run), n_rows, n_cols)).has_structure
                for run in range(n_runs)
            )
            total += alarms
            print(f"{kind:<10} {n_rows:>5} x {n_cols}  {alarms} of {n_runs}", flush=True)
    print(f"{total} of {n_runs * 4 * len(STRUCTURELESS)}")


def main(arguments: list[str]) -> None:
    if arguments[0] == "noise":
        noise(int(arguments[1]))
        return
    kept = Path(arguments[1]) if len(arguments) > 1 else None
    known: dict[str, Any] = {}
    if kept is not None and kept.exists():
        known = {one["name"]: one for one in map(json.loads, kept.read_text().splitlines())}
    ways = ("study", "k-means", "GMM", "HDBSCAN")
    print("| set | rows | k | found | method |", " | ".join(ways), "| (ARI / NCA each)")
    for name, table, truth in labelled_sets(Path(arguments[0])):
        line = known.get(name) or run(name, table, truth)
        if name not in known and kept is not None:
            with kept.open("a") as file:
                file.write(json.dumps(line) + "\n")
        told = " | ".join("{:.2f} / {:.2f}".format(*line[way]) for way in ways)
        head = [name, line["rows"], line["k"], line["found"], line["method"]]
        print("|", " | ".join(map(str, head)), "|", told, "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
