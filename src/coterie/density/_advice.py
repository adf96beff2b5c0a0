"""Advice on a clustering that says more about its parameters than about the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from coterie._labels import NOISE
from coterie.density._rule import Clustering, DensityRule

#: The share of the rows that makes a cluster giant.
GIANT_SHARE = 0.99


def advise(
    found: Clustering, rule: DensityRule, has_pairs: Callable[[], bool]
) -> Iterator[tuple[str, str]]:
    """A short name and a sentence for everything there is to advise on DBSCAN's result.

    `has_pairs` says whether any two rows are within eps of each other; asked only when all rows
    are noise.
    """
    n_rows = found.labels.size
    if n_rows < 2:
        return
    asked = f"eps={rule.eps:g} and min_samples={rule.min_samples:g}"
    if found.n_clusters == n_rows or (found.n_clusters == 0 and not has_pairs()):
        yield (
            "eps below the smallest distance",
            f"no two rows are within eps={rule.eps:g} of each other; eps is too small for these "
            "rows, look at their distances to the k-th neighbour (coterie.select.suggest_eps).",
        )
    if found.n_clusters == 0:
        yield (
            "everything noise",
            f"with {asked} no row is core, so all are noise; raise eps or lower min_samples.",
        )
        return
    largest = int(np.bincount(found.labels[found.labels != NOISE]).max())
    if found.n_clusters == 1 and largest >= GIANT_SHARE * n_rows:
        yield (
            "one giant cluster",
            f"with {asked} one cluster holds {largest} of {n_rows} rows; eps is probably too "
            "large.",
        )
    if found.core.all() and rule.min_samples > 1:
        yield (
            "every point core",
            f"with {asked} every row is core, so nothing is told apart as border or noise; "
            "if noise is expected, lower eps or raise min_samples.",
        )


def advise_sizes(
    labels: npt.NDArray[np.int64], n_clusters: int, min_cluster_size: int, k: int
) -> tuple[str, str] | None:
    """A short name and a sentence on HDBSCAN's result, where there is anything to advise."""
    asked = f"min_cluster_size={min_cluster_size} and min_samples={k}"
    if n_clusters == 0:
        return (
            "everything noise",
            f"with {asked} the rows never part into two clusters, so all are noise; lower them, "
            "or set allow_single_cluster=True.",
        )
    largest = int(np.bincount(labels[labels != NOISE], minlength=1).max())
    if largest >= GIANT_SHARE * labels.size:
        return (
            "one giant cluster",
            f"with {asked} one cluster holds {largest} of {labels.size} rows; lower them, or use "
            "cluster_selection_method='leaf' for what is inside it.",
        )
    return None
