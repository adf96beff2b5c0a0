"""Growing a vocabulary tree: k-means in every node of a level at once, level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie._history import Recorder
from coterie.centroid._space import Space
from coterie.data import Source
from coterie.data.chance import Chance
from coterie.errors import InvariantError
from coterie.quantize._tree import Floats, Ints, Labels, Tree, number_leaves, starts_of
from coterie.quantize._tree_level import (
    Census,
    Growing,
    LevelCenters,
    LevelRows,
    level_rows,
    sq_dist_step,
)
from coterie.quantize._tree_seeds import (
    ROWS_A_CHILD,
    Drawn,
    Scatter,
    draw_coresets,
    seed_nodes,
)

#: Makes of centres in float64 those that are published, of the type of the rows.
Rounding = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Plan:
    """How a tree is to be grown."""

    branching: int
    depth: int
    init: str
    n_init: int
    max_iter: int
    tol: float


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
    iteration is one pass over the rows. Time O(n_rows * branching * n_features) an iteration of a
    level. Memory beside the rows: the centres and sums of one level, the coresets its nodes start
    from, and, where rows are in memory, 20 bytes a row.

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
    elsewhere = float(nodes.scatter.sq_dists.sum() - scatter.sq_dists.sum())
    n_wanted = ROWS_A_CHILD[plan.init] * plan.branching
    drawn = draw_coresets(rows, scatter, Chance.of(rng), n_wanted)
    best: _Learned | None = None
    for _ in range(plan.n_init):
        start = _start(rows, drawn, n_rows, n_wanted, plan, rng)
        learned = _learn(rows, start, scatter, n_rows, plan, level, elsewhere, recorder)
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
    first = nodes.n_nodes
    nodes.add_level(centers.values, census, kept)
    node_of_center = np.where(kept, first + np.cumsum(kept) - 1, -1).astype(np.int32)
    rows.settle(node_of_center)


@dataclass(frozen=True)
class _Start:
    """Seeds of all nodes of a level; `exact` nodes have a seed for every distinct row."""

    centers: Floats
    starts: Ints
    exact: npt.NDArray[np.bool_]


def _start(
    rows: LevelRows, drawn: Drawn, n_rows: Ints, n_wanted: int, plan: Plan,
    rng: np.random.RandomState,
) -> _Start:  # fmt: skip
    space = rows.growing.space
    sets = drawn.starts(n_rows.size)
    seeds = seed_nodes(drawn, sets, space, plan.branching, rng, rows.source.n_threads)
    used = np.arange(plan.branching) < seeds.n_found[:, np.newaxis]
    centers = drawn.values[seeds.entries[used]].astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(seeds.n_found)]).astype(np.int64)
    # A coreset of all rows with no further distinct one: they are their own means.
    complete = np.diff(sets) == n_rows
    return _Start(centers, starts, complete & seeds.all_distinct)


@dataclass(frozen=True)
class _Learned:
    """Centres of all nodes of a level, and the SSE of each node in the frame."""

    centers: Floats
    starts: Ints
    sses: Floats

    def or_better(self, other: _Learned) -> _Learned:
        """The better of both at each node, this one on ties."""
        worse = other.sses < self.sses
        sizes = np.where(worse, np.diff(other.starts), np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        centers = np.empty((starts[-1], self.centers.shape[1]))
        for run, mine in ((self, ~worse), (other, worse)):
            into = np.repeat(mine, sizes)
            centers[into] = run.centers[np.repeat(mine, np.diff(run.starts))]
        return _Learned(centers, starts, np.where(worse, other.sses, self.sses))


def _learn(
    rows: LevelRows,
    start: _Start,
    scatter: Scatter,
    n_rows: Ints,
    plan: Plan,
    level: int,
    elsewhere: float,
    recorder: Recorder,
) -> _Learned:
    """Lloyd's iterations at all nodes at once; a node that has settled is left alone."""
    space = rows.growing.space
    node_centers, n_centers = rows.growing.centers, np.diff(start.starts)
    # As `KMeans`: relative to the mean variance of the columns, here of a node's rows.
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = scatter.sq_dists / scatter.weights / node_centers.shape[1]
    tol = plan.tol * variances
    centers = start.centers
    active = ~start.exact
    sses = np.where(active, scatter.sq_dists, 0.0)
    unit = space.weight_unit / space.scale / space.scale
    rows.forget()
    for n_iter in range(1, plan.max_iter + 1):
        if not active.any():
            break
        found = rows.sums(LevelCenters(centers, start.starts, active))
        concerned = np.repeat(active, n_centers) & found.weight_sums.any(axis=0)
        with np.errstate(invalid="ignore"):
            means = space.means(found.sums, found.weight_sums)
        moved = np.where(concerned[:, np.newaxis], means, centers)
        shifts = np.square((moved - centers) * space.scale).sum(axis=1)
        shift = np.add.reduceat(shifts, start.starts[:-1])
        after = _sses(space, scatter, node_centers, moved, concerned, found.weight_sums, start)
        if get_options()["check_invariants"]:
            _check_descent(level, n_iter, sses, after, scatter, active)
        sses = np.where(active, after, sses)
        centers = moved
        recorder.iteration(
            centers,
            iteration=len(recorder.history) + 1,
            objective_update=float((sses.sum() + elsewhere) * unit),
            shift=float(shift[active].sum() / space.scale / space.scale),
            n_scanned=int(n_rows[active].sum()),
            level=level,
            n_nodes=int(active.sum()),
        )
        active = active & (shift > tol)
        if recorder.stopped:
            break
    if active.any() and not recorder.stopped:
        recorder.event(
            "not settled",
            f"level {level}: the centres of {int(active.sum())} of {active.size} nodes were still "
            f"moving after max_iter={plan.max_iter} iterations",
            where=level,
        )
    return _Learned(centers, start.starts, sses)


def _sses(
    space: Space, scatter: Scatter, node_centers: Floats, means: Floats,
    concerned: npt.NDArray[np.bool_], weight_sums: Ints, start: _Start,
) -> Floats:  # fmt: skip
    """SSE of each node under the labels whose means these are, in the frame.

    The scatter about the node's centre is what is left within, and what is between:
    S = SSE + sum_j W_j |m_j - c|^2.
    """
    about = np.repeat(node_centers, np.diff(start.starts), axis=0)
    sq_moves = np.square((means - about) * space.scale).sum(axis=1)
    between = np.where(concerned, space.weights(weight_sums) * sq_moves, 0.0)
    left = scatter.sq_dists - np.add.reduceat(between, start.starts[:-1])
    return np.maximum(left, 0.0)


def _check_descent(
    level: int,
    n_iter: int,
    before: Floats,
    after: Floats,
    scatter: Scatter,
    active: npt.NDArray[np.bool_],
) -> None:
    rose = np.flatnonzero(active & (after > before + 1e-9 * scatter.sq_dists))
    if rose.size:
        node = int(rose[0])
        raise InvariantError(
            f"vocabulary tree: iteration {n_iter} of level {level} raised the objective of a node "
            f"from {before[node]!r} to {after[node]!r}."
        )


def _tell(
    recorder: Recorder, level: int, branching: int, learned: _Learned, census: Census, n_kept: Ints
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
