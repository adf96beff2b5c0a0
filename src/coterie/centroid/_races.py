"""Drawing rows by D^2 in one pass: every row runs a race against the others.

A row of weight w at squared distance D^2 from its nearest seed arrives after a time that is
exponential with rate w D^2. The first to arrive is a row drawn with probability proportional to its
rate, and the first m are m such rows, drawn one after the other without replacement (Efraimidis and
Spirakis 2006). Times depend on the row alone, so the winners do not depend on how rows are cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._passes import labels_of, sq_dists
from coterie.centroid._space import Space
from coterie.data import Block
from coterie.data.chance import Chance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Winners:
    """The first rows to arrive: their times, numbers and values; `+` keeps the first of both."""

    n_wanted: int
    times: Floats
    rows: Ints
    values: Any

    def __add__(self, other: Winners) -> Winners:
        times = np.concatenate([self.times, other.times])
        rows = np.concatenate([self.rows, other.rows])
        first = np.lexsort((rows, times))[: self.n_wanted]
        values = np.concatenate([self.values, other.values])[first]
        return Winners(self.n_wanted, times[first], rows[first], values)


def race(block: Block, rates: Floats, chance: Chance, n_wanted: int) -> Winners:
    """The first rows of a block to arrive; those of rate zero never do."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = -np.log1p(-chance.draw(block.start, block.n_rows)) / rates
    runs = np.flatnonzero(rates > 0)
    first = runs[np.lexsort((runs, times[runs]))[:n_wanted]]
    values = block.rows[first]
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    return Winners(n_wanted, times[first], first + block.start, values)


def closest_sq_dists(block: Block, seeds: Floats, space: Space) -> Floats:
    """Squared distance of every row of a block to its nearest seed, times scale^2."""
    sq_dist = np.empty(block.n_rows)
    sq_dists(block, seeds, space, labels_of(block, seeds, space), sq_dist)
    return sq_dist


def race_from(block: Block, seeds: Floats, space: Space, chance: Chance, n_wanted: int) -> Winners:
    """The first rows of a block to arrive where seeds are known."""
    rates = closest_sq_dists(block, seeds, space)
    if block.weights is not None:
        rates *= block.weights / space.weight_unit
    return race(block, rates, chance, n_wanted)


def potentials(
    block: Block, seeds: Floats, candidates: Floats, space: Space, step_inverse: float
) -> Ints:
    """What the potential would be with each candidate: in whole steps, whose order is no matter."""
    closest = closest_sq_dists(block, seeds, space)
    with_each = np.empty(len(candidates), dtype=np.int64)
    for at in range(len(candidates)):
        left = np.minimum(closest, closest_sq_dists(block, candidates[at : at + 1], space))
        if block.weights is not None:
            left *= block.weights / space.weight_unit
        with_each[at] = np.rint(left * step_inverse).astype(np.int64).sum()
    return with_each
