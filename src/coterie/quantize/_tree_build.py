"""Growing a vocabulary tree: k-means in every node of a level at once, level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._space import Space
from coterie.data import Source
from coterie.data.chance import Chance
from coterie.quantize._tree import Floats, Ints, Labels, Tree, number_leaves, starts_of
from coterie.quantize._tree_learn import Learned, Plan, learn_level, start_level
from coterie.quantize._tree_level import (
    Census,
    Growing,
    LevelCenters,
    LevelRows,
    level_rows,
    sq_dist_step,
)
from coterie.quantize._tree_seeds import ROWS_A_CHILD, Scatter, draw_coresets

#: Makes of centres in float64 those that are published, of the type of the rows.
Rounding = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Grown:
    """A tree, how many rows each node has, the leaf of each row, and what happened."""

    tree: Tree
    n_rows: Ints
    labels: Labels


class _Nodes:
    """The nodes so far, level by level, with what is known of their rows."""

    def __init__(self, space: Space, step: float) -> None:
        self.space, self.step = space, step
        self.centers: list[Floats] = []
        self.n_children: list[Ints] = []
        self.n_rows: list[Ints] = []
        self.scatter = Scatter(np.empty(0), np.empty(0))
        self.settled = 0.0  # squared distances at leaves above the last level

    @property
    def n_nodes(self) -> int:
        return sum(len(centers) for centers in self.centers)

    def add_level(self, centers: Floats, census: Census, kept: npt.NDArray[np.bool_]) -> None:
        """One more level: the centres that are kept."""
        self.centers.append(centers[kept])
        self.n_rows.append(census.n_rows[kept])
        self.n_children.append(np.zeros(int(kept.sum()), dtype=np.int64))
        weights = self.space.weights(census.weight_sums)[kept]
        self.scatter = Scatter(weights, census.sq_dists(self.step)[kept])

    def tree(self) -> Tree:
        starts = starts_of(np.concatenate(self.n_children))
        return Tree(np.concatenate(self.centers), starts, number_leaves(starts))

    def growing(self, split: Ints) -> Growing:
        """The tree with these nodes of the last level to be split."""
        starts = starts_of(np.concatenate(self.n_children))
        places = np.full(self.n_nodes, split.size, dtype=np.int32)
        places[self.n_nodes - len(self.centers[-1]) + split] = np.arange(split.size)
        tree = Tree(np.concatenate(self.centers), starts, places)
        return Growing(tree, self.centers[-1][split], self.space)


def grow_tree(
    source: Source,
    space: Space,
    plan: Plan,
    rng: np.random.RandomState,
    recorder: Recorder,
) -> Grown:
    """k-means of k-means: split all rows, then the rows of every part, and so on.

    Nister and Stewenius (2006). All nodes of a level learn together, each from its own rows: an
    iteration is one pass over the rows. Time O(n_rows * branching * n_features) per iteration of a
    level. Memory beside the rows: the centres and sums of one level, the coresets its nodes start
    from, and, where rows are in memory, 20 bytes per row.

    Parameters
    ----------
    source, space
        The rows, and the coordinates to compute in.
    plan
        Shape of the tree, and how each node learns.
    rng
        Where the starts come from.
    recorder
        Is told of every iteration of every level and of what is odd, and may ask to stop.

    Returns
    -------
    Grown
    """

    def rounding(centers: Floats) -> Floats:
        return centers.astype(source.dtype).astype(np.float64)

    step = sq_dist_step(source.n_rows, source.n_cols)
    rows, nodes = level_rows(source, step), _Nodes(space, step)
    _plant(rows, nodes, rounding)
    for level in range(1, plan.depth + 1):
        split = np.flatnonzero((nodes.n_rows[-1] > 1) & (nodes.scatter.weights > 0))
        if split.size == 0 or recorder.stopped:
            break
        _grow_level(rows, nodes, split, plan, rounding, level, rng, recorder)
        if nodes.centers[-1].size == 0:
            break
    tree = nodes.tree()
    return Grown(tree, np.concatenate(nodes.n_rows), rows.leaves(tree))


def _plant(rows: LevelRows, nodes: _Nodes, rounding: Rounding) -> None:
    """The root: the mean of all rows."""
    space = nodes.space
    anywhere = (space.origin / space.step_inverse)[np.newaxis]
    seed = Tree(anywhere, np.array([1, 1], dtype=np.int32), np.zeros(1, dtype=np.int32))
    rows.enter(Growing(seed, anywhere, space))
    one = np.array([0, 1], dtype=np.int64)
    found = rows.sums(LevelCenters(anywhere, one, np.ones(1, dtype=bool)))
    mean = rounding(space.means(found.sums, found.weight_sums))
    census = rows.census(LevelCenters(mean, one, np.ones(1, dtype=bool)))
    nodes.add_level(mean, census, np.ones(1, dtype=bool))


def _grow_level(
    rows: LevelRows,
    nodes: _Nodes,
    split: Ints,
    plan: Plan,
    rounding: Rounding,
    level: int,
    rng: np.random.RandomState,
    recorder: Recorder,
) -> None:
    """Split nodes of the last level into those of the next."""
    rows.enter(nodes.growing(split))
    n_rows = nodes.n_rows[-1][split]
    scatter = Scatter(nodes.scatter.weights[split], nodes.scatter.sq_dists[split])
    nodes.settled += float(nodes.scatter.sq_dists.sum() - scatter.sq_dists.sum())
    n_wanted = ROWS_A_CHILD[plan.init] * plan.branching
    best: Learned | None = None
    for _ in range(plan.n_init):
        drawn = draw_coresets(rows, scatter, Chance.of(rng), n_wanted)
        start = start_level(rows, drawn, n_rows, plan, rng)
        learned = learn_level(rows, start, scatter, n_rows, plan, level, nodes.settled, recorder)
        best = learned if best is None else best.or_better(learned)
        if recorder.stopped:
            break
    assert best is not None

    # What is published are rounded centres: rows belong to the nearest of those.
    centers = LevelCenters(rounding(best.centers), best.starts, np.ones(split.size, dtype=bool))
    if best is not learned:
        rows.forget()
    census = rows.census(centers)
    kept = census.n_rows > 0
    n_kept = np.add.reduceat(kept, best.starts[:-1], dtype=np.int64)
    whole = n_kept < 2  # all rows would be in one child
    kept &= ~np.repeat(whole, np.diff(best.starts))
    n_kept[whole] = 0
    _tell(recorder, level, plan.branching, best, census, n_kept)
    nodes.n_children[-1][split] = n_kept
    nodes.settled += float(scatter.sq_dists[whole].sum())
    first = nodes.n_nodes
    nodes.add_level(centers.values, census, kept)
    node_of_center = np.where(kept, first + np.cumsum(kept) - 1, -1).astype(np.int32)
    rows.settle(node_of_center)


def _tell(
    recorder: Recorder, level: int, branching: int, learned: Learned, census: Census, n_kept: Ints
) -> None:
    """Note the nodes that got fewer children than asked for, and why."""
    n_nodes, n_seeds = n_kept.size, np.diff(learned.starts)
    small = int((n_seeds < branching).sum())
    if small:
        recorder.event(
            "small nodes",
            f"level {level}: {small} of {n_nodes} nodes have fewer than {branching} distinct rows "
            "and got a child for each",
            where=level,
        )
    leaves = int((n_kept == 0).sum())
    if leaves:
        recorder.event(
            "early leaves",
            f"level {level}: {leaves} of {n_nodes} nodes have rows that cannot be told apart and "
            "stay leaves",
            where=level,
        )
    split = np.repeat(n_kept > 0, n_seeds)
    empty = int((split & (census.n_rows == 0)).sum())
    if empty:
        recorder.event(
            "empty nodes",
            f"level {level}: {empty} children had no row in the end and were left out",
            where=level,
        )
