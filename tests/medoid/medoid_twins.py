"""k-medoids as plain loops: what the kernels are held to."""

from __future__ import annotations

from typing import Any

import numpy as np


def total_deviation(D: Any, medoids: Any, weights: Any = None) -> float:
    """Sum of the distances of all rows to the nearest medoid."""
    nearest = D[np.asarray(medoids)].astype(float).min(axis=0)
    return float(nearest.sum() if weights is None else (weights * nearest).sum())


def best_swap(D: Any, medoids: Any, candidate: int, weights: Any = None) -> tuple[float, int]:
    """The lowest total deviation with a candidate for one medoid, and for which."""
    totals = []
    for slot in range(len(medoids)):
        swapped = list(medoids)
        swapped[slot] = candidate
        totals.append(total_deviation(D, swapped, weights))
    return min(totals), int(np.argmin(totals))


def fasterpam(D: Any, start: Any, weights: Any = None) -> tuple[list[int], list[float]]:
    """Medoids and the totals after each swap, by trying every swap of one candidate at a time."""
    medoids, totals = list(start), []
    total, j, n_fruitless = total_deviation(D, medoids, weights), 0, 0
    while n_fruitless < len(D):
        n_fruitless += 1
        if j not in medoids:
            reached, slot = best_swap(D, medoids, j, weights)
            if reached < total * (1 - 1e-12):
                medoids[slot], total, n_fruitless = j, reached, 0
                totals.append(total)
        j = (j + 1) % len(D)
    return medoids, totals


def pam(D: Any, start: Any, weights: Any = None) -> tuple[list[int], list[float]]:
    """The same, always by the best of all swaps."""
    medoids, totals = list(start), []
    while True:
        total = total_deviation(D, medoids, weights)
        others = [j for j in range(len(D)) if j not in medoids]
        found = [(*best_swap(D, medoids, j, weights), j) for j in others]
        reached, slot, j = min(found, key=lambda swap: swap[0], default=(np.inf, 0, 0))
        if not reached < total * (1 - 1e-12):
            return medoids, totals
        medoids[slot] = j
        totals.append(reached)


def build(D: Any, n_clusters: int, weights: Any = None) -> list[int]:
    """Greedily, the row that lowers the total deviation most; ties to the lower."""
    medoids: list[int] = []
    while len(medoids) < n_clusters:
        others = [j for j in range(len(D)) if j not in medoids]
        totals = [total_deviation(D, [*medoids, j], weights) for j in others]
        medoids.append(others[int(np.argmin(np.round(totals, 9)))])
    return medoids


def is_swap_optimal(D: Any, medoids: Any, weights: Any = None, rel: float = 1e-9) -> bool:
    """Whether no single swap lowers the total deviation beyond rounding."""
    least = total_deviation(D, medoids, weights) * (1 - rel)
    others = [j for j in range(len(D)) if j not in set(np.asarray(medoids).tolist())]
    if weights is not None:
        others = [j for j in others if weights[j] > 0]
    return all(best_swap(D, medoids, j, weights)[0] >= least for j in others)


def alternate(D: Any, start: Any) -> list[int]:
    """Labels by the nearest medoid, the medoid of each cluster, and again."""
    medoids = list(start)
    while True:
        labels = D[medoids].argmin(axis=0)
        moved = []
        for slot in range(len(medoids)):
            members = np.flatnonzero(labels == slot)
            moved.append(int(members[D[np.ix_(members, members)].sum(axis=1).argmin()]))
        if not total_deviation(D, moved) < total_deviation(D, medoids) * (1 - 1e-12):
            return medoids
        medoids = moved
