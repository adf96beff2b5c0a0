"""Naive twins: agglomerative clustering by its definition, and what makes a merge table greedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rule = Callable[..., Floats]

#: Distance of x to the union of a and b (Lance and Williams), for distances as they are.
RULES: dict[str, Rule] = {
    "single": lambda xa, xb, ab, nx, na, nb: np.minimum(xa, xb),
    "complete": lambda xa, xb, ab, nx, na, nb: np.maximum(xa, xb),
    "average": lambda xa, xb, ab, nx, na, nb: (na * xa + nb * xb) / (na + nb),
    "weighted": lambda xa, xb, ab, nx, na, nb: (xa + xb) / 2,
    "ward": lambda xa, xb, ab, nx, na, nb: _root(
        ((nx + na) * xa**2 + (nx + nb) * xb**2 - nx * ab**2) / (nx + na + nb)
    ),
    "centroid": lambda xa, xb, ab, nx, na, nb: _root(
        (na * xa**2 + nb * xb**2) / (na + nb) - na * nb * ab**2 / (na + nb) ** 2
    ),
    "median": lambda xa, xb, ab, nx, na, nb: _root((xa**2 + xb**2) / 2 - ab**2 / 4),
}


def _root(squares: Any) -> Floats:
    return np.sqrt(np.maximum(squares, 0))


class Clusters:
    """The clusters there are, by their numbers in the merge table, and their distances."""

    def __init__(self, table: Any, method: str, sizes: Any = None) -> None:
        n = len(table)
        self.method = method
        self.far = np.full((2 * n - 1, 2 * n - 1), np.inf)
        self.far[:n, :n] = table
        np.fill_diagonal(self.far, np.inf)
        self.sizes = np.zeros(2 * n - 1)
        self.sizes[:n] = 1 if sizes is None else sizes
        self.alive = list(range(n))

    def least(self) -> float:
        """The smallest distance between two clusters."""
        return float(self.far[np.ix_(self.alive, self.alive)].min())

    def closest(self) -> tuple[int, int]:
        """A pair at that distance."""
        table = self.far[np.ix_(self.alive, self.alive)]
        i, j = np.unravel_index(table.argmin(), table.shape)
        return self.alive[min(i, j)], self.alive[max(i, j)]

    def join(self, a: int, b: int, new: int) -> None:
        """Replace a and b by their union."""
        assert a != b
        self.alive.remove(a)
        self.alive.remove(b)
        x, n = np.array(self.alive, dtype=int), self.sizes
        dist = RULES[self.method](self.far[x, a], self.far[x, b], self.far[a, b], n[x], n[a], n[b])
        self.far[new, x] = self.far[x, new] = dist
        n[new] = n[a] + n[b]
        self.alive.append(new)


def linkage(table: Any, method: str) -> Floats:
    """Join a closest pair until one cluster is left: O(n^3)."""
    clusters = Clusters(table, method)
    n = len(table)
    merges = []
    for new in range(n, 2 * n - 1):
        a, b = sorted(clusters.closest())
        merges.append((a, b, clusters.far[a, b], clusters.sizes[a] + clusters.sizes[b]))
        clusters.join(a, b, new)
    return np.array(merges).reshape(-1, 4)


def assert_greedy(Z: Any, table: Any, method: str, rtol: float = 1e-9, sizes: Any = None) -> None:
    """Every merge joins a pair at the smallest current distance, and says so."""
    n = len(table)
    clusters = Clusters(table, method, sizes)
    # Squares of distances cancel: what is left is as exact as the largest of them.
    atol = rtol * float(np.max(table, initial=0))
    if method in ("ward", "centroid", "median"):
        atol = max(atol, 1e-7 * float(np.max(table, initial=0)))
    assert Z.shape == (n - 1, 4)
    for new, (a, b, height, size) in enumerate(Z, n):
        a, b = int(a), int(b)
        assert a < b
        assert a in clusters.alive
        assert b in clusters.alive
        least = clusters.least()
        assert clusters.far[a, b] <= least + rtol * least + atol, (new, clusters.far[a, b], least)
        np.testing.assert_allclose(height, clusters.far[a, b], rtol=rtol, atol=atol)
        clusters.join(a, b, new)
        if sizes is None:
            assert size == clusters.sizes[new]
