"""How near the references `best_method` comes, beside the methods it chooses among.

    python -m benchmarks.select.study_best_method known FOLDER KEPT
    python -m benchmarks.select.study_best_method open FOLDER KEPT

FOLDER holds an `index.csv` with the columns battery, dataset, labels and k, in their batteries
`dataset.data.gz` and `dataset.labelsN.gz` (0 is noise) and, if it is there,
`../published_scores.csv`; three sets come with scikit-learn. Sets are in two halves by turns, in
the order of the index: the rule was found on half A, and B confirms. `known` gives the number of
clusters of each reference, `open` none. KEPT is a file that sets are appended to as they are
scored, one JSON line each; those it has are not scored again.

Scores are normalised accuracies: noise rows of a reference are left out, and a set has the largest
over its references. With another number of clusters than the reference, the larger of the two
numbers normalises, and clusters left over match nothing.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import set_options
from coterie.centroid import KMeans
from coterie.density import HDBSCAN
from coterie.evaluate import normalized_clustering_accuracy
from coterie.hierarchy import AgglomerativeClustering
from coterie.mixture import GaussianMixture
from coterie.neighbors import Index
from coterie.select import best_method, choose_k
from coterie.select._candidates import Method, fits_for, spanning_for, usable, ward_for

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

BUNDLED = {"iris": "iris", "wine": "wine", "breast_cancer": "wdbc"}
PUBLISHED = {
    "Genie_G0.3": "Genie 0.3, published",
    "GIc": "Genie+Ic, published",
    "sklearn_spectral_Alaplacian_G5": "spectral, published",
    "FCPS_HDBSCAN_4": "HDBSCAN, published",
}
#: Above so many rows, single methods choose their number of clusters on as many.
MANY = 10_000


def labelled_sets(folder: Path) -> Iterator[tuple[str, str, Floats, list[Labels]]]:
    """Names, halves, rows and references."""
    references: dict[tuple[str, str], list[str]] = {}
    with (folder / "index.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            references.setdefault((row["battery"], row["dataset"]), []).append(row["labels"])
    for place, ((battery, name), which) in enumerate(references.items()):
        path = folder / battery / name
        truths = [np.loadtxt(f"{path}.labels{one}.gz", dtype=np.int64) for one in which]
        yield f"{battery}/{name}", "AB"[place % 2], np.loadtxt(f"{path}.data.gz", ndmin=2), truths
    from sklearn import datasets

    for place, (name, called) in enumerate(BUNDLED.items(), len(references)):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield called, "AB"[place % 2], X, [y + 1]


def n_classes(truth: Labels) -> int:
    """The number of clusters of a reference, noise left out."""
    return np.unique(truth[truth > 0]).size


def accuracy(truth: Labels, labels: Labels | None) -> float:
    """Normalised accuracy without noise rows; 0 where there are no labels."""
    if labels is None:
        return 0.0
    return normalized_clustering_accuracy(truth[truth > 0], labels[truth > 0])


def published(folder: Path) -> dict[str, dict[str, float]]:
    """Published accuracies by method and set: the largest over the references."""
    path, found = folder.parent / "published_scores.csv", dict[str, dict[str, float]]()
    if path.exists():
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = row["dataset"]
                name = name if name in BUNDLED.values() else f"{row['battery']}/{name}"
                scores = found.setdefault(PUBLISHED.get(row["method"], ""), {})
                scores[name] = max(scores.get(name, 0.0), float(row["nca"]))
    return {method: scores for method, scores in found.items() if method}


def score_known(X: Floats, truths: list[Labels]) -> dict[str, float]:
    """Accuracies with the number of clusters given; 0 where a method has no such partition."""
    rows = X - X.mean(axis=0)
    methods: list[Method] = [*fits_for(rows, 0), ward_for(rows, 0, 2), *spanning_for(rows, 2)]
    found: dict[str, float] = {}
    for truth in truths:
        k = n_classes(truth)
        labels = {one.name: usable(one.labels(k), k) for one in methods}
        labels["best_method"] = best_method(X, k, random_state=0).labels
        for name, one in labels.items():
            found[name] = max(found.get(name, 0.0), accuracy(truth, one))
    return found


def score_open(X: Floats, truths: list[Labels]) -> dict[str, float]:
    """Accuracies with a number of clusters that each method chooses by its own criterion."""
    best = best_method(X, random_state=0)
    partitions = {
        "best_method": best.labels,
        "k-means, silhouette": chosen(X, KMeans(n_init=3, random_state=0), "silhouette"),
        "k-means, Calinski-Harabasz": chosen(
            X, KMeans(n_init=3, random_state=0), "calinski_harabasz"
        ),
        "Ward, silhouette": chosen(X, AgglomerativeClustering(linkage="ward"), "silhouette"),
        "Genie 0.3, silhouette": chosen(X, AgglomerativeClustering(linkage="genie"), "silhouette"),
        "mixture, BIC": chosen(X, GaussianMixture(random_state=0), "bic"),
        "mixture, ICL": chosen(X, GaussianMixture(random_state=0), "icl"),
        **by_density(X),
    }
    found = {
        name: max(accuracy(truth, labels) for truth in truths)
        for name, labels in partitions.items()
    }
    return {**found, "clusters": best.n_clusters}


def by_density(X: Floats) -> dict[str, Labels]:
    """HDBSCAN of two sizes, with noise as a cluster, and with noise given to the nearest rows."""
    found = {}
    for name, size in (("HDBSCAN", 5), ("HDBSCAN, 1% of rows", max(5, len(X) // 100))):
        labels = HDBSCAN(min_cluster_size=size).fit(X).labels_
        found[name] = labels
        known, filled = labels >= 0, labels.copy()
        if known.any() and not known.all():
            index = Index(np.ascontiguousarray(X[known], dtype=np.float64))
            nearest = index.knn(1, np.ascontiguousarray(X[~known], dtype=np.float64)).ids[:, 0]
            filled[~known] = labels[known][nearest]
        found[f"{name}, noise to the nearest"] = filled
    return found


def chosen(X: Floats, estimator: Any, criterion: str) -> Labels:
    """Labels of all rows with the number of clusters that a criterion picks, of 2 to 25.

    Of many rows, a dozen numbers up to 150 are tried instead, on some of the rows.
    """
    ks, some = [*range(2, 26)], X
    if len(X) > MANY:
        ks = [2, 3, 5, 10, 15, 20, 25, 50, 75, 100, 125, 150]
        some = X[np.random.default_rng(0).permutation(len(X))[:MANY]]
    choice = choose_k(some, estimator, ks, criterion=criterion, sample_size=2000, random_state=0)
    model = choice.model
    if some is not X:
        model = estimator.set_params(**{_count(estimator): choice.k}, **_compressed(estimator))
        model.fit(X)
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


def _count(estimator: Any) -> str:
    return "n_components" if hasattr(estimator, "n_components") else "n_clusters"


def _compressed(estimator: Any) -> dict[str, int]:
    return {"compress": 2000} if getattr(estimator, "linkage", "") == "ward" else {}


def tell(scores: dict[str, dict[str, Any]], halves: dict[str, str]) -> None:
    """A row for each method with the means of both halves, then one for each set."""
    names = dict.fromkeys(name for one in scores.values() for name in one if name != "clusters")
    print("| method | half A | half B | all | sets |")
    print("|---|---|---|---|---|")
    for name in names:
        cells = []
        for half in ("A", "B", "AB"):
            own = [
                one[name] for place, one in scores.items() if halves[place] in half and name in one
            ]
            cells.append(f"{np.mean(own):.3f}")
        n_sets = sum(name in one for one in scores.values())
        print(f"| {name} | {' | '.join(cells)} | {n_sets} |")
    print("| set | half | best_method | best of the others |")
    print("|---|---|---|---|")
    for place, one in scores.items():
        others = {n: s for n, s in one.items() if n not in ("best_method", "clusters")}
        top = max(others, key=lambda n: others[n])
        k = f" ({one['clusters']} clusters)" if "clusters" in one else ""
        own = f"{one['best_method']:.2f}{k}"
        print(f"| {place} | {halves[place]} | {own} | {others[top]:.2f} {top} |")


def study(
    folder: Path, kept: Path, score: Callable[[Floats, list[Labels]], dict[str, Any]]
) -> None:
    """Score what is not kept yet, and tell."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    scores: dict[str, dict[str, Any]] = dict(json.loads(line) for line in lines)
    halves = {}
    for name, half, X, truths in labelled_sets(folder):
        halves[name] = half
        if name not in scores:
            scores[name] = score(X, truths)
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, scores[name]]) + "\n")
    if score is score_known:
        for method, by_set in published(folder).items():
            for name in scores:
                if name in by_set:
                    scores[name][method] = by_set[name]
    tell({name: scores[name] for name in halves}, halves)


if __name__ == "__main__":
    set_options(n_threads=2)
    what, where, kept_in = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    study(where, kept_in, {"known": score_known, "open": score_open}[what])
