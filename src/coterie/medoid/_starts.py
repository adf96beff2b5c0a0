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
    """What a start may look at: a search, the rows it counts, and their weights.

    `rows` are the numbers of the candidates that those rows are, and `allowed` which of them may be
    medoids (None: all). So many rows that count are left out.
    """

    search: kernels.Medoids
    rows: Ids
    weights: Floats | None
    allowed: npt.NDArray[np.bool_] | None
    n_threads: int
    n_left_out: int = 0

    @property
    def chances(self) -> Floats:
        """The weight of every row."""
        return np.ones(self.rows.size) if self.weights is None else self.weights

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which rows may be medoids; to be changed at will."""
        return np.ones(self.rows.size, dtype=bool) if self.allowed is None else self.allowed.copy()

    def lengths(self, place: int) -> Floats:
        """Distances of all rows to the one at this place."""
        out = np.empty(self.rows.size)
        self.search.lengths(int(self.rows[place]), out, self.n_threads)
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
    return field.rows[rng.choice(np.flatnonzero(field.possible), n_clusters, replace=False)]


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
    """Places by `draw`, given the distances to those before; -1 is the lowest that is free."""
    places: list[int] = []
    nearest: Floats | None = None
    free = field.possible
    while len(places) < n_clusters:
        place = min(draw(nearest), field.rows.size - 1)
        if place < 0 or not free[place]:  # by rounding at the last end
            place = int(np.argmax(free))
        places.append(place)
        free[place] = False
        reached = field.lengths(place)
        nearest = reached if nearest is None else np.minimum(nearest, reached)
        nearest[places] = 0.0
    return field.rows[places]


STARTS: dict[str, Start] = {
    "build": build,
    "k-medoids++": plus_plus,
    "random": random,
    "farthest-first": farthest_first,
}
