"""Naive twins of the scores: their definitions written out, slow and plain."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, exp, lgamma, log
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Floats = npt.NDArray[np.float64]

#: Two labellings of the same few rows.
LABELLINGS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(-1, 5), min_size=n, max_size=n) for _ in range(2)))
)


def table_of(true: Any, pred: Any) -> npt.NDArray[np.int64]:
    """The contingency table, cell by cell."""
    classes, clusters = sorted(set(true)), sorted(set(pred))
    rows = list(zip(true, pred, strict=True))
    return np.array([[rows.count((i, j)) for j in clusters] for i in classes])


def pairs_of(true: Any, pred: Any) -> tuple[int, int, int, int]:
    """Unordered pairs together in both, in the first only, in the second only, in none."""
    found = [0, 0, 0, 0]
    for i, j in combinations(range(len(true)), 2):
        found[2 * (true[i] != true[j]) + (pred[i] != pred[j])] += 1
    return found[0], found[1], found[2], found[3]


def mutual_info_of(table: Any) -> float:
    """sum p log(p / (p_i p_j))."""
    p = np.asarray(table, dtype=float) / np.sum(table)
    return sum(
        p[i, j] * log(p[i, j] / (p[i].sum() * p[:, j].sum()))
        for i in range(p.shape[0])
        for j in range(p.shape[1])
        if p[i, j] > 0
    )


def exact_expected_mi(a: Any, b: Any) -> float:
    """With probabilities as fractions of whole numbers."""
    n = sum(a)
    total = 0.0
    for x in map(int, a):
        for y in map(int, b):
            for m in range(max(1, x + y - n), min(x, y) + 1):
                p = Fraction(comb(y, m) * comb(n - y, x - m), comb(n, x))
                total += m / n * log(n * m / (x * y)) * float(p)
    return total


def expected_mi_by_logs(a: Any, b: Any) -> float:
    """With probabilities by logarithms of factorials, for more rows."""
    n, total = int(sum(a)), 0.0

    def log_comb(p: int, q: int) -> float:
        return lgamma(p + 1) - lgamma(q + 1) - lgamma(p - q + 1)

    for x in map(int, a):
        for y in map(int, b):
            for m in range(max(1, x + y - n), min(x, y) + 1):
                p = exp(log_comb(y, m) + log_comb(n - y, x - m) - log_comb(n, x))
                total += m / n * log(n * m / (x * y)) * p
    return total


def best_matching(gains: Any) -> float:
    """The best of all matchings, by trying each."""
    gains = np.asarray(gains, dtype=float)
    if gains.shape[0] > gains.shape[1]:
        gains = gains.T
    rows = range(gains.shape[0])
    return max(sum(gains[i, s[i]] for i in rows) for s in permutations(range(gains.shape[1])))


def lengths_of(X: Any) -> Floats:
    """Euclidean distances of all pairs, in the direct form."""
    X = np.asarray(X, dtype=np.float64)
    return np.sqrt(np.square(X[:, np.newaxis] - X[np.newaxis]).sum(axis=2))


def silhouettes_of(D: Floats, labels: Any) -> Floats:
    """(b - a) / max(a, b), row by row."""
    labels = np.asarray(labels)
    out = np.zeros(len(labels))
    for i, own in enumerate(labels):
        if (labels == own).sum() == 1:
            continue
        a = D[i, labels == own].sum() / ((labels == own).sum() - 1)
        b = min(D[i, labels == other].mean() for other in set(labels.tolist()) - {own.item()})
        out[i] = 0.0 if max(a, b) == 0 else (b - a) / max(a, b)
    return out


def scatter_of(X: Any, labels: Any) -> tuple[Floats, Floats, Floats]:
    """S_W, S_B and S_T, each by its own sum, in long double."""
    X, labels = np.asarray(X, dtype=np.longdouble), np.asarray(labels)
    mean = X.mean(axis=0)
    within = np.zeros((X.shape[1], X.shape[1]), dtype=np.longdouble)
    between = within.copy()
    for own in set(labels.tolist()):
        rows = X[labels == own]
        gaps, away = rows - rows.mean(axis=0), rows.mean(axis=0) - mean
        within += gaps.T @ gaps
        between += len(rows) * np.outer(away, away)
    gaps = X - mean
    return tuple(S.astype(np.float64) for S in (within, between, gaps.T @ gaps))  # type: ignore


def davies_bouldin_of(X: Any, labels: Any) -> float:
    """Cluster by cluster."""
    X, labels = np.asarray(X, dtype=np.longdouble), np.asarray(labels)
    clusters = [X[labels == own] for own in sorted(set(labels.tolist()))]
    means = [rows.mean(axis=0) for rows in clusters]
    reach = [
        np.sqrt(np.square(rows - mean).sum(axis=1)).mean()
        for rows, mean in zip(clusters, means, strict=True)
    ]
    worst = [
        max(
            (reach[i] + reach[j]) / np.sqrt(np.square(means[i] - means[j]).sum())
            for j in range(len(means))
            if j != i
        )
        for i in range(len(means))
    ]
    return float(np.mean(worst))
