"""k-means in every node of a level at once: a start for each, then Lloyd's iterations together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._config import get_options
from coterie._history import Recorder
from coterie.centroid._space import Space
from coterie.errors import InvariantError
from coterie.quantize._tree import Floats, Ints
from coterie.quantize._tree_level import LevelCenters, LevelRows
from coterie.quantize._tree_seeds import Drawn, Scatter, seed_nodes


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
class Start:
    """Seeds of all nodes of a level; `exact` nodes have a seed for every distinct row."""

    centers: Floats
    starts: Ints
    exact: npt.NDArray[np.bool_]


def start_level(
    rows: LevelRows, drawn: Drawn, n_rows: Ints, plan: Plan, rng: np.random.RandomState
) -> Start:
    """Seeds of all nodes, from their coresets."""
    space = rows.growing.space
    sets = drawn.starts(n_rows.size)
    seeds = seed_nodes(drawn, sets, space, plan.branching, rng, rows.source.n_threads)
    used = np.arange(plan.branching) < seeds.n_found[:, np.newaxis]
    centers = drawn.values[seeds.entries[used]].astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(seeds.n_found)]).astype(np.int64)
    # A coreset of all rows with no further distinct one: they are their own means.
    complete = np.diff(sets) == n_rows
    return Start(centers, starts, complete & seeds.all_distinct)


@dataclass(frozen=True)
class Learned:
    """Centres of all nodes of a level, and the SSE of each node in the frame."""

    centers: Floats
    starts: Ints
    sses: Floats

    def or_better(self, other: Learned) -> Learned:
        """The better of both at each node, this one on ties."""
        worse = other.sses < self.sses
        sizes = np.where(worse, np.diff(other.starts), np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        centers = np.empty((starts[-1], self.centers.shape[1]))
        for run, mine in ((self, ~worse), (other, worse)):
            into = np.repeat(mine, sizes)
            centers[into] = run.centers[np.repeat(mine, np.diff(run.starts))]
        return Learned(centers, starts, np.where(worse, other.sses, self.sses))


def learn_level(
    rows: LevelRows,
    start: Start,
    scatter: Scatter,
    n_rows: Ints,
    plan: Plan,
    level: int,
    settled: float,
    recorder: Recorder,
) -> Learned:
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
            objective_update=float((sses.sum() + settled) * unit),
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
    return Learned(centers, start.starts, sses)


def _sses(
    space: Space, scatter: Scatter, node_centers: Floats, means: Floats,
    concerned: npt.NDArray[np.bool_], weight_sums: Ints, start: Start,
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
