"""Where the nodes of a level start: k-means++ on a small coreset of each, drawn in one pass.

A row of weight w at squared distance D^2 from the centre of its node, whose rows have the weight W
and the scatter S in all, is drawn with probability proportional to q = w / 2W + w D^2 / 2S, and
then counts with w / q: the lightweight coreset of Bachem, Lucic and Krause (2018). Half of the
draws are evenly spread, half go to what is far away, so that rare values are seen. Rows are drawn
by a race, as in `centroid/_races.py`: the winners depend on the rows' numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._passes import sq_dists, unit_weights
from coterie.centroid._space import Space
from coterie.data import Block
from coterie.data.chance import Chance
from coterie.quantize._tree import Floats, Ints
from coterie.quantize._tree_level import Grouped, Growing, KeptRows, LevelRows

#: Rows drawn of a node for each child it may get, by the name of the seeding. Where there is one a
#: child, all distinct ones become seeds.
ROWS_A_CHILD = {"k-means++": 8, "random": 1}


@dataclass(frozen=True)
class Scatter:
    """Weight and scatter of each node to be split, in the units of the space."""

    weights: Floats
    sq_dists: Floats


@dataclass(frozen=True)
class Drawn:
    """The first `n_wanted` rows of each node to arrive; `+` keeps the first of both.

    In the order of their nodes and times: `times`, `rows` (numbers), `nodes`, `values` and what
    each row counts for, `weights`.
    """

    n_wanted: int
    times: Floats
    rows: Ints
    nodes: Ints
    values: npt.NDArray[Any]
    weights: Floats

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(
            self.n_wanted,
            np.concatenate([self.times, other.times]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.nodes, other.nodes]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weights, other.weights]),
        ).first()

    def first(self) -> Drawn:
        """Those that arrive first at each node."""
        kept = first_of_each(self.nodes, self.times, self.rows, self.n_wanted)
        return Drawn(
            self.n_wanted, self.times[kept], self.rows[kept], self.nodes[kept], self.values[kept],
            self.weights[kept],
        )  # fmt: skip

    def starts(self, n_nodes: int) -> Ints:
        """Where the rows of each node start, and the end."""
        starts: Ints = np.searchsorted(self.nodes, np.arange(n_nodes + 1)).astype(np.int64)
        return starts


def first_of_each(nodes: Ints, times: Floats, rows: Ints, n_wanted: int) -> Ints:
    """Which entries are among the first of their node, in the order of nodes, times and rows."""
    order = np.lexsort((rows, times, nodes))
    sorted_nodes = nodes[order]
    begins = np.searchsorted(sorted_nodes, sorted_nodes)
    kept: Ints = order[np.arange(order.size) - begins < n_wanted]
    return kept


def race_block(
    block: Block,
    grouped: Grouped,
    growing: Growing,
    scatter: Scatter,
    chance: Chance,
    n_wanted: int,
) -> Drawn:
    """The rows of a block that arrive first at each node."""
    space, ids, nodes = growing.space, grouped.row_ids, grouped.nodes
    labels = np.zeros(block.n_rows, dtype=np.int32)
    labels[ids] = nodes
    dists = np.empty(block.n_rows)
    sq_dists(block, growing.centers, space, labels, dists)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(scatter.sq_dists > 0, 0.5 / scatter.sq_dists, 0.0)
        evenly = np.where(scatter.weights > 0, 0.5 / scatter.weights, 0.0)
        chances = evenly[nodes] + dists[ids] * spread[nodes]  # for a weight of one
        weights = unit_weights(block, space)
        rates = chances if weights is None else chances * weights[ids]
        times = -np.log1p(-chance.draw(block.start, block.n_rows)[ids]) / rates
    runs = np.flatnonzero(rates > 0)
    early = runs[_early(times[runs], nodes[runs], n_wanted, growing.n_split)]
    chosen = early[first_of_each(nodes[early], times[early], ids[early], n_wanted)]
    return Drawn(
        n_wanted, times[chosen], ids[chosen] + block.start, nodes[chosen],
        np.asarray(block.rows[ids[chosen]]), 1.0 / chances[chosen],
    )  # fmt: skip


def _early(times: Floats, nodes: Ints, n_wanted: int, n_nodes: int) -> npt.NDArray[np.bool_]:
    """Entries that hold the first of every node: few, as rates add up to one at each."""
    early = times <= 2 * n_wanted
    n_early = np.bincount(nodes[early], minlength=n_nodes)
    n_all = np.bincount(nodes, minlength=n_nodes)
    short = n_early < np.minimum(n_wanted, n_all)
    found: npt.NDArray[np.bool_] = early | short[nodes]
    return found


def race_passing(
    block: Block, growing: Growing, scatter: Scatter, chance: Chance, n_wanted: int
) -> Drawn:
    """The same where the nodes of the rows are not known yet."""
    grouped = Grouped.by(growing.places(block), growing.n_split)
    return race_block(block, grouped, growing, scatter, chance, n_wanted)


def draw_coresets(rows: LevelRows, scatter: Scatter, chance: Chance, n_wanted: int) -> Drawn:
    """A coreset of every node to be split: all rows of a node that has no more than wanted.

    Memory: `n_wanted` rows per node.
    """
    growing = rows.growing
    if isinstance(rows, KeptRows):
        return race_block(rows.block, rows.grouped, growing, scatter, chance, n_wanted)
    return rows.source.total(race_passing, growing, scatter, chance, n_wanted)


@dataclass(frozen=True)
class NodeSeeds:
    """Seeds of each node: entries of its coreset, `n_found` of each row of `entries`.

    `all_distinct`: whether every row of the coreset is one of them or its copy.
    """

    entries: Ints
    n_found: Ints
    all_distinct: npt.NDArray[np.bool_]


def seed_nodes(
    drawn: Drawn,
    starts: Ints,
    space: Space,
    n_seeds: int,
    rng: np.random.RandomState,
    n_threads: int,
) -> NodeSeeds:
    """k-means++ in the coreset of every node; fewer seeds where it has fewer distinct rows.

    Greedy, with 2 + log(n_seeds) trials per seed. Time O(n_seeds * trials * n_features) per row
    drawn, on all threads.
    """
    n_nodes = starts.size - 1
    n_trials = 2 + int(np.log(n_seeds))
    seeds = np.empty((n_nodes, n_seeds), dtype=np.int64)
    n_found, left = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes)
    draws = rng.random_sample((n_nodes, n_seeds, n_trials))
    kernels.seed_sets(
        drawn.values, drawn.weights, starts, space.scale, draws, seeds, n_found, left, n_threads
    )
    return NodeSeeds(seeds, n_found, left == 0)
