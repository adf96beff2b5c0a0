"""Which rows are the first medoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Field:
    """What a start may look at: a search over some rows, their weights, and which may be medoids.

    None for the last two: all are alike.
    """

    search: kernels.Medoids
    n_rows: int
    weights: Floats | None
    allowed: npt.NDArray[np.bool_] | None
    n_threads: int

    @property
    def chances(self) -> Floats:
        """The weight of every row."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which rows may be medoids; to be changed at will."""
        return np.ones(self.n_rows, dtype=bool) if self.allowed is None else self.allowed.copy()

    def lengths(self, row: int) -> Floats:
        """Distances of all rows to one of them."""
        out = np.empty(self.n_rows)
        self.search.lengths(row, out, self.n_threads)
        return out


Start = Callable[[Field, int, np.random.RandomState], Ids]


def build(field: Field, n_clusters: int, rng: np.random.RandomState) -> Ids:
    """BUILD (Kaufman & Rousseeuw 1990): always the row that lowers the total deviation most.

    O(n^2) for the first two, and for each of the others what lazy evaluation (Minoux 1978) leaves
    of it: few candidates, since gains never grow.
    """
    return np.array(field.search.build(n_clusters, field.n_threads), dtype=np.int64)


def random(field: Field, n_clusters: int, rng: np.random.RandomState) -> Ids:
    """Rows drawn at random, each once."""
    return rng.choice(np.flatnonzero(field.possible), n_clusters, replace=False)


def plus_plus(field: Field, n_clusters: int, rng: np.random.RandomState) -> Ids:
    """Rows drawn in proportion to their distance to the nearest medoid so far.

    k-means++ (Arthur & Vassilvitskii 2007) with their exponent for sums of distances, 1. O(n k).
    """
    chances = field.chances

    def draw(nearest: Floats | None) -> int:
        mass = chances if nearest is None else chances * nearest
        ends = np.cumsum(mass)
        if not ends[-1] > 0:  # the rows left are copies of medoids
            return -1
        return int(np.searchsorted(ends, rng.random_sample() * ends[-1], side="right"))

    return _one_by_one(field, n_clusters, draw)


def farthest_first(field: Field, n_clusters: int, rng: np.random.RandomState) -> Ids:
    """A row at random, then always the row farthest from the medoids so far (Gonzalez 1985).

    O(n k). Ties go to the lowest row.
    """
    possible = field.possible

    def draw(nearest: Floats | None) -> int:
        if nearest is None:
            return int(rng.choice(np.flatnonzero(possible)))
        far = np.where(possible, nearest, 0.0)
        return int(np.argmax(far)) if far.any() else -1

    return _one_by_one(field, n_clusters, draw)


def _one_by_one(field: Field, n_clusters: int, draw: Callable[[Floats | None], int]) -> Ids:
    """Rows by `draw`, given the distances to those before; -1 is the lowest that is free."""
    rows: list[int] = []
    nearest: Floats | None = None
    free = field.possible
    while len(rows) < n_clusters:
        row = min(draw(nearest), field.n_rows - 1)
        if row < 0 or not free[row]:  # by rounding at the last end
            row = int(np.argmax(free))
        rows.append(row)
        free[row] = False
        reached = field.lengths(row)
        nearest = reached if nearest is None else np.minimum(nearest, reached)
        nearest[rows] = 0.0
    return np.array(rows, dtype=np.int64)


STARTS: dict[str, Start] = {
    "build": build,
    "k-medoids++": plus_plus,
    "random": random,
    "farthest-first": farthest_first,
}
