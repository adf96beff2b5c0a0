"""Naive twins: the definitions written out in float64, slow and plain, to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def unit_scale(*arrays: Any) -> float:
    """A power of two that brings the largest absolute value to about one; exact to multiply by."""
    largest = max(float(np.abs(np.asarray(a, dtype=np.float64)).max()) for a in arrays)
    return 2.0 ** -np.clip(math.frexp(largest)[1], -1000, 1000) if largest > 0 else 1.0


def sq_dists(X: Any, centers: Any, scale: float = 1.0) -> Floats:
    """Squared distances times scale^2, (n_rows, n_clusters): columns are summed in order."""
    rows = np.asarray(X, dtype=np.float64) * scale
    seeds = np.asarray(centers, dtype=np.float64) * scale
    total = np.zeros((len(rows), len(seeds)))
    for x, c in zip(rows.T, seeds.T, strict=True):
        total += np.square(x[:, np.newaxis] - c)
    return total


def nearest(X: Any, centers: Any) -> npt.NDArray[np.int64]:
    """The nearest centre of every row; ties go to the lower index."""
    return np.asarray(sq_dists(X, centers, unit_scale(X, centers)).argmin(axis=1))


def sse(X: Any, centers: Any, labels: Any, weights: Any = None) -> float:
    """Weighted sum of squared distances of the rows to the centres of their labels."""
    rows = np.asarray(X, dtype=np.float64)
    own = np.asarray(centers, dtype=np.float64)[labels]
    each = np.square(rows - own).sum(axis=1)
    return math.fsum(each if weights is None else each * weights)


def mean(rows: Any, weights: Any) -> list[float]:
    """Weighted mean of every column, summed exactly."""
    total = math.fsum(weights)
    return [math.fsum(column * weights) / total for column in np.asarray(rows, np.float64).T]


def means(X: Any, labels: Any, centers: Floats, weights: Any = None) -> Floats:
    """Mean of every cluster; one without weight stays where it is."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    moved = np.array(centers, dtype=np.float64)
    for j in range(len(moved)):
        if weights[labels == j].sum() > 0:
            moved[j] = mean(np.asarray(X)[labels == j], weights[labels == j])
    return moved


@dataclass
class Run:
    """A finished run of Lloyd's iterations, and what each half-step came to."""

    centers: Floats
    labels: npt.NDArray[np.int64]
    n_iter: int
    objectives: list[float] = field(default_factory=list)


def lloyd(
    X: Any, centers: Any, *, max_iter: int = 300, tol: float = 0.0, weights: Any = None
) -> Run:
    """Lloyd's iterations without relocation of empty clusters, from the given centres."""
    centers = np.array(centers, dtype=np.float64)
    before: Any = None
    run = Run(centers, nearest(X, centers), 0)
    for run.n_iter in range(1, max_iter + 1):
        labels = nearest(X, centers)
        run.objectives.append(sse(X, centers, labels, weights))
        moved = means(X, labels, centers, weights)
        run.objectives.append(sse(X, moved, labels, weights))
        shift = np.square(moved - centers).sum()
        centers = moved
        if (before is not None and np.array_equal(labels, before)) or shift <= tol:
            break
        before = labels
    run.centers, run.labels = centers, nearest(X, centers)
    return run


def unit(rows: Any) -> Floats:
    """The rows with length one; rows of zeros stay."""
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows * unit_scale(rows)
    length = np.array([[math.hypot(*row)] for row in rows])
    return np.asarray(np.divide(rows, length, out=rows.copy(), where=length > 0))


def spherical(X: Any, centers: Any, max_iter: int = 300) -> Run:
    """Spherical k-means (Dhillon & Modha 2001): largest cosine, then the direction of the sum."""
    rows, centers = unit(X), unit(centers)
    labels = np.full(len(rows), -1)
    run = Run(centers, labels, 0)
    for run.n_iter in range(1, max_iter + 1):
        found = (rows @ centers.T).argmax(axis=1)
        if np.array_equal(found, labels):
            break
        labels = found
        centers = unit(means(rows, labels, centers))
        run.objectives.append(float((rows * centers[labels]).sum()))
    run.centers, run.labels = centers, labels
    return run


def column_stats(X: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Per column: smallest, largest, mean, sum of squared deviations from the mean."""
    rows = np.asarray(X, dtype=np.float64)
    center = np.array([math.fsum(column) / len(rows) for column in rows.T])
    sq_dev = np.array([math.fsum(np.square(c - m)) for c, m in zip(rows.T, center, strict=True)])
    return rows.min(axis=0), rows.max(axis=0), center, sq_dev


def reduced_lengths(X: Any, Y: Any, metric: str, p: float = 2) -> Floats:
    """Distances before the root: columns are added in order, in float64."""
    rows, others = (np.asarray(part, dtype=np.float64) for part in (X, Y))
    total = np.zeros((len(rows), len(others)))
    for x, y in zip(rows.T, others.T, strict=True):
        gap = np.abs(x[:, np.newaxis] - y)
        if metric == "chebyshev":
            total = np.maximum(total, gap)
        else:
            total += {"euclidean": gap * gap, "manhattan": gap, "minkowski": gap**p}[metric]
    return total


def lengths(X: Any, Y: Any, metric: str, p: float = 2) -> Floats:
    """Distances of all pairs."""
    reduced = reduced_lengths(X, Y, metric, p)
    root = {"euclidean": np.sqrt, "minkowski": lambda r: r ** (1 / p)}
    return np.asarray(root.get(metric, np.asarray)(reduced))


def knn(reduced: Floats, k: int) -> npt.NDArray[np.int64]:
    """The k nearest columns of every row of a table, equals by index."""
    return np.argsort(reduced, axis=1, kind="stable")[:, :k]


def spanning_tree(table: Floats, cores: Any = None) -> list[tuple[float, int, int]]:
    """Kruskal (1956): edges in the order of (length, head, tail), unless they close a circle."""
    if cores is not None:
        table = np.maximum(table, np.maximum.outer(cores, cores))
    n = len(table)
    edges = sorted((float(table[i, j]), i, j) for i in range(n) for j in range(i + 1, n))
    group = list(range(n))
    tree = []
    for length, head, tail in edges:
        if group[head] != group[tail]:
            tree.append((length, head, tail))
            group = [group[head] if g == group[tail] else g for g in group]
    return tree
