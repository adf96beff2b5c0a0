"""What k-means|| asks of the rows: who wins a race by distance, and who is nearest to a seed."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from coterie.centroid._passes import labels_of
from coterie.centroid._races import Winners, race, race_from
from coterie.centroid._seed_distances import seed_distances
from coterie.centroid._space import Space
from coterie.data import Block, RowsByNumber, Source
from coterie.data.chance import Chance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Cover(Protocol):
    """Seeds, and how far the rows are from them."""

    @property
    def seeds(self) -> Ints:
        """Row numbers of the seeds, in the order they came."""
        ...

    @property
    def values(self) -> Any:
        """Their rows."""
        ...

    def add(self, winners: Winners) -> None:
        """Make these rows seeds."""
        ...

    def race(self, chance: Chance, n_wanted: int) -> Winners:
        """The first rows to arrive in a race by weight times D^2."""
        ...

    def weights(self) -> Floats:
        """The weight of the rows nearest to each seed."""
        ...


class KeptCover:
    """A cover of rows that can be had by number, which remembers how far each is."""

    def __init__(self, blocks: RowsByNumber, space: Space, first: int) -> None:
        self._blocks, self._space = blocks, space
        self._dists = seed_distances(blocks, space)
        self._dists.add(np.array([first]))

    @property
    def seeds(self) -> Ints:
        return np.array(self._dists.seeds, dtype=np.int64)

    @property
    def values(self) -> Any:
        return self._blocks.pick(self.seeds).rows

    def add(self, winners: Winners) -> None:
        self._dists.add(winners.rows)

    def race(self, chance: Chance, n_wanted: int) -> Winners:
        parts = (self._race(block, chance, n_wanted) for block in self._blocks)
        return reduce(operator.add, parts)

    def _race(self, block: Block, chance: Chance, n_wanted: int) -> Winners:
        rates = np.array(self._dists.closest[block.span])
        if block.weights is not None:
            rates *= block.weights / self._space.weight_unit
        return race(block, rates, chance, n_wanted)

    def weights(self) -> Floats:
        step, n_seeds = whole_steps(self._blocks.n_rows), len(self._dists.seeds)
        total = np.zeros(n_seeds, dtype=np.int64)
        for block in self._blocks:
            total += weigh(block, self._dists.nearest[block.span], n_seeds, self._space, step)
        return total / step * self._space.weight_unit


class StreamedCover:
    """A cover that remembers the seeds alone; every question is a pass."""

    def __init__(self, blocks: Source, space: Space, first: int) -> None:
        self._blocks, self._space = blocks, space
        picked = blocks.pick([first])
        self._seeds = [np.array([first], dtype=np.int64)]
        self._values = [picked.rows]

    @property
    def seeds(self) -> Ints:
        return np.concatenate(self._seeds)

    @property
    def values(self) -> Any:
        return np.concatenate(self._values)

    def add(self, winners: Winners) -> None:
        self._seeds.append(winners.rows)
        self._values.append(winners.values)

    def race(self, chance: Chance, n_wanted: int) -> Winners:
        centers = self.values.astype(np.float64)
        return self._blocks.total(race_from, centers, self._space, chance, n_wanted)

    def weights(self) -> Floats:
        step = whole_steps(self._blocks.n_rows)
        centers = self.values.astype(np.float64)
        total = self._blocks.total(weigh_nearest, centers, self._space, step)
        return total / step * self._space.weight_unit


def new_cover(blocks: Source, space: Space, first: int) -> Cover:
    """A cover by one row."""
    if isinstance(blocks, RowsByNumber):
        return KeptCover(blocks, space, first)
    return StreamedCover(blocks, space, first)


def whole_steps(n_rows: int) -> float:
    """How many steps make one, where sums over all rows of numbers up to one are whole numbers."""
    return 2.0 ** min(50, 61 - int(np.ceil(np.log2(n_rows + 1))))


def weigh(
    block: Block, nearest: npt.NDArray[np.int32], n_seeds: int, space: Space, step: float
) -> Ints:
    """The weight of a block's rows by the seed nearest to each, in whole steps."""
    total = np.zeros(n_seeds, dtype=np.int64)
    if block.weights is None:
        return total + np.bincount(nearest, minlength=n_seeds) * int(step)
    np.add.at(total, nearest, np.rint(block.weights / space.weight_unit * step).astype(np.int64))
    return total


def weigh_nearest(block: Block, centers: Floats, space: Space, step: float) -> Ints:
    """The weight of a block's rows nearest to each centre, in whole steps."""
    return weigh(block, labels_of(block, centers, space), len(centers), space, step)
