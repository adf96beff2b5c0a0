"""DBSCAN of rows in many places: cells of space with a margin, clustered alone and then joined.

Every row is owned by one cell and lent to all others whose box, grown by eps, holds it. So a cell
sees all neighbours of its own rows: it knows which of them are core, and, once told which of the
rows lent to it are core, all ties between core rows that it has a part in. A core row that two
cells know ties the clusters it has in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from coterie._distinct import distinct
from coterie._labels import NOISE
from coterie.data import Block
from coterie.density._euclidean import cluster_rows, label_by_core
from coterie.density._lookup import label_by_equality
from coterie.density._rule import Clustering, DensityRule

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: A cell is not cut where it is narrower than this many times eps: nearly all would be margin.
_NARROW = 6.0
#: Rows that the cells are chosen by.
_SAMPLE_ROWS = 1 << 14
#: Beyond rounding, so that no neighbour is left out: of eps, and where its square underflows.
_SLACK, _LEAST_REACH = 1 + 1e-12, 1e-150


@dataclass(frozen=True)
class Cut:
    """A box of space in two: rows below `at` in a column go to the left part.

    A part is a cut again, or the number of a cell.
    """

    column: int
    at: float
    left: Cut | int
    right: Cut | int


def choose_cells(sample: npt.NDArray[Any], n_cells: int, eps: float) -> tuple[Cut | int, int]:
    """Cut space into cells of about as many rows each, at most `n_cells`; and how many there are.

    The fullest box is halved, at the median of its widest column, again and again.
    """
    boxes: list[tuple[Any, bool]] = [(sample, True)]  # and whether a cut is worth a try
    ways: list[tuple[tuple[int, float, int], ...]] = [()]
    while len(boxes) < n_cells:
        fullest = max(range(len(boxes)), key=lambda at: boxes[at][1] * len(boxes[at][0]))
        rows, open_still = boxes[fullest]
        if not open_still or len(rows) < 2:
            break
        column, at = _best_cut(rows, eps)
        below = rows[:, column] < at
        if column < 0 or not 0 < np.count_nonzero(below) < len(rows):
            boxes[fullest] = (rows, False)
            continue
        way = ways[fullest]
        boxes[fullest], ways[fullest] = (rows[below], True), (*way, (column, at, 0))
        boxes.append((rows[~below], True))
        ways.append((*way, (column, at, 1)))
    return _as_cuts(list(enumerate(ways)), 0), len(boxes)


def _best_cut(rows: npt.NDArray[Any], eps: float) -> tuple[int, float]:
    """The widest column and its median; -1 where all columns are narrow."""
    widths = rows.max(axis=0) - rows.min(axis=0)
    column = int(np.argmax(widths))
    if not widths[column] > _NARROW * eps:
        return -1, 0.0
    return column, float(np.median(rows[:, column]))


def _as_cuts(cells: list[tuple[int, tuple[tuple[int, float, int], ...]]], depth: int) -> Cut | int:
    """The tree of cuts whose leaves are reached by these ways."""
    if len(cells) == 1 and len(cells[0][1]) == depth:
        return cells[0][0]
    column, at, _ = cells[0][1][depth]
    left, right = (
        _as_cuts([cell for cell in cells if cell[1][depth][2] == side], depth + 1)
        for side in (0, 1)
    )
    return Cut(column, at, left, right)


@dataclass(frozen=True)
class Portion:
    """The rows a cell knows, by ascending number; `+` puts those of later blocks behind.

    `own` are its own, `shared` those that other cells know, too; `core` the rows known to be core,
    `groups` the cluster of each core row in this cell alone.
    """

    ids: Ints
    rows: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    own: Flags
    shared: Flags
    core: Flags | None = None
    groups: Ints | None = None

    def __add__(self, other: Portion) -> Portion:
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return Portion(
            np.concatenate([self.ids, other.ids]), np.concatenate([self.rows, other.rows]),
            weights, np.concatenate([self.own, other.own]),
            np.concatenate([self.shared, other.shared]),
        )  # fmt: skip


def deal_out(block: Block, cuts: Cut | int, n_cells: int, eps: float) -> list[Portion]:
    """What each cell is to know of the rows of a block."""
    reach = max(eps * _SLACK, _LEAST_REACH)
    everything = np.arange(block.n_rows)
    known: list[tuple[Ints, Flags]] = [(everything[:0], np.empty(0, dtype=bool))] * n_cells
    waiting = [(cuts, everything, np.ones(block.n_rows, dtype=bool))]
    while waiting:
        part, here, own = waiting.pop()
        if not isinstance(part, Cut):
            known[part] = (here, own)
            continue
        values = block.rows[here, part.column].astype(np.float64)
        low, high = np.nextafter([part.at - reach, part.at + reach], [-np.inf, np.inf])
        below = values < part.at
        for side, near, its_own in (
            (part.left, values <= high, below),
            (part.right, values >= low, ~below),
        ):
            waiting.append((side, here[near], (own & its_own)[near]))
    times = np.zeros(block.n_rows, dtype=np.int64)
    for here, _ in known:
        times[here] += 1
    return [
        Portion(
            here + block.start, np.ascontiguousarray(block.rows[here]),
            None if block.weights is None else block.weights[here], own, times[here] > 1,
        )
        for here, own in known
    ]  # fmt: skip


def find_core(portion: Portion, n_threads: int, rule: DensityRule) -> Portion:
    """Learn which of the own rows are core."""
    core = np.zeros(portion.ids.size, dtype=bool)
    if portion.own.any():
        alone = replace(rule, weights=portion.weights, border="noise", n_threads=n_threads)
        core = cluster_rows(portion.rows, alone).core & portion.own
    return replace(portion, core=core)


def shared_core(portion: Portion, n_threads: int) -> Ints:
    """The numbers of the own core rows that other cells know."""
    assert portion.core is not None
    return portion.ids[portion.core & portion.shared]


def group_core(portion: Portion, n_threads: int, lent_core: Ints, eps: float) -> Portion:
    """Learn which of the rows lent are core (`lent_core` are sorted), and group all core rows."""
    assert portion.core is not None
    core = portion.core.copy()
    lent = np.flatnonzero(~portion.own)
    if lent_core.size:
        place = np.minimum(np.searchsorted(lent_core, portion.ids[lent]), lent_core.size - 1)
        core[lent] = lent_core[place] == portion.ids[lent]
    groups = np.empty(0, dtype=np.int64)
    if core.any():
        every_row = DensityRule(eps, 1.0, None, "noise", n_threads)
        groups = cluster_rows(np.ascontiguousarray(portion.rows[core]), every_row).labels
    return replace(portion, core=core, groups=groups)


@dataclass(frozen=True)
class Ties:
    """What others must know of a cell: lowest rows of its groups, groups of its shared rows."""

    lowest: Ints
    ids: Ints
    groups: Ints


def find_ties(portion: Portion, n_threads: int) -> Ties:
    """The ties of a cell."""
    assert portion.core is not None
    assert portion.groups is not None
    ids, shared = portion.ids[portion.core], portion.shared[portion.core]
    _, first = np.unique(portion.groups, return_index=True)
    return Ties(ids[first], ids[shared], portion.groups[shared])


def join(cells: list[Ties]) -> tuple[list[Ints], int]:
    """The cluster of every group of every cell, numbered by lowest core rows; and how many."""
    starts = np.cumsum([0, *(ties.lowest.size for ties in cells)])
    lowest = np.concatenate([ties.lowest for ties in cells])
    ids = np.concatenate([ties.ids for ties in cells])
    groups = np.concatenate(
        [ties.groups + start for ties, start in zip(cells, starts, strict=False)]
    )
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(np.diff(ids[order]) == 0)
    one, other = groups[order][same], groups[order][same + 1]
    tied = sp.coo_array((np.ones(one.size), (one, other)), shape=(lowest.size, lowest.size))
    n_clusters, cluster = connected_components(tied, directed=False)
    first = np.full(n_clusters, np.iinfo(np.int64).max)
    np.minimum.at(first, cluster, lowest)
    number = np.empty(n_clusters, dtype=np.int64)
    number[np.argsort(first)] = np.arange(n_clusters)
    return np.split(number[cluster], starts[1:-1]), int(n_clusters)


@dataclass(frozen=True)
class Labelled:
    """Numbers, clusters and kinds of the rows that a cell owns."""

    ids: Ints
    labels: Ints
    core: Flags


def label_own(portion: Portion, n_threads: int, numbers: Ints, rule: DensityRule) -> Labelled:
    """The clusters of the own rows, given those of the groups."""
    assert portion.core is not None
    assert portion.groups is not None
    core_labels = numbers[portion.groups]
    labels = np.full(portion.ids.size, NOISE, dtype=np.int64)
    labels[portion.core] = core_labels
    border = np.flatnonzero(portion.own & ~portion.core)
    if rule.border != "noise" and border.size and core_labels.size:
        labels[border] = label_by_core(
            np.ascontiguousarray(portion.rows[portion.core]), core_labels,
            np.ascontiguousarray(portion.rows[border]), replace(rule, n_threads=n_threads),
        )  # fmt: skip
    own = portion.own
    return Labelled(portion.ids[own], labels[own], portion.core[own])


def count_not_finite(block: Block) -> int:
    """How many values of a block are not finite."""
    return block.rows.size - int(np.count_nonzero(np.isfinite(block.rows)))


def fill_by_core(
    block: Block, core_rows: Any, core_labels: Ints, rule: DensityRule, labels: Ints
) -> None:
    """Fill in the clusters that the rows of a block join, given the core rows."""
    mine = replace(rule, n_threads=block.n_threads)
    if core_labels.size == 0:
        labels[:] = NOISE
    elif rule.border == "noise":
        labels[:] = label_by_equality(core_rows, core_labels, block.rows)
    else:
        labels[:] = label_by_core(core_rows, core_labels, block.rows, mine)


def cluster_cells(source: Any, rule: DensityRule) -> Clustering:
    """Cluster the rows of a source that can deal them out (`source.dealt`) by the rule.

    The labels are those of `cluster_rows`. Memory here: some bytes per row, of which labels are
    eight; elsewhere that of the cells, whose margins are known twice or more.
    """
    sample = source.sample(_SAMPLE_ROWS, 1, np.random.RandomState(0)).rows
    cuts, n_cells = choose_cells(np.asarray(sample, dtype=np.float64), source.n_parts, rule.eps)
    plain = replace(rule, weights=None)
    portions = source.weighted(rule.weights).dealt(deal_out, n_cells, cuts, n_cells, rule.eps)
    portions = portions.then(find_core, plain)
    lent_core = distinct(np.concatenate(portions.gather(shared_core)))
    portions = portions.then(group_core, lent_core, rule.eps)
    numbers, n_clusters = join(portions.gather(find_ties))
    labels = np.empty(source.n_rows, dtype=np.int64)
    core = np.empty(source.n_rows, dtype=bool)
    for found in portions.gather(label_own, plain, each=numbers):
        labels[found.ids], core[found.ids] = found.labels, found.core
    return Clustering(labels, core, n_clusters)
