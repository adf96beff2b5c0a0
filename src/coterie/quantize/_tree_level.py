"""The rows of a level of a growing vocabulary tree: what all its nodes learn from one pass.

Rows reach their node by going down the tree so far. Rows in memory are sent down once and keep
their place; rows that only come by go down again in every pass. Both give the same bits: sums are
whole numbers, and labels those of the direct form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._passes import ClusterSums, sq_dists, unit_weights
from coterie.centroid._space import Space
from coterie.data import ArraySource, Block, Source
from coterie.quantize._tree import Floats, Ints, Labels, Tree

#: Bits of whole squared distances below one step: such a rest is summed apart.
_REST_BITS = 40


@dataclass(frozen=True)
class Growing:
    """The tree so far, with the nodes to be split.

    Attributes
    ----------
    tree
        Its `leaf_numbers` are places: leaves to be split are numbered, all others have the number
        after the last.
    centers
        Of the nodes to be split, in the order of their places.
    space
        The coordinates to compute in.
    """

    tree: Tree
    centers: Floats
    space: Space

    @property
    def n_split(self) -> int:
        """How many nodes are to be split."""
        return len(self.centers)

    def places(self, block: Block) -> Labels:
        """The place of the node of every row; `n_split` where that is not split."""
        places = np.empty(block.n_rows, dtype=np.int32)
        kernels.find_leaves(block.rows, self.tree, self.space.scale, 1, places, block.n_threads)
        return places


@dataclass(frozen=True)
class Grouped:
    """Rows of a block by the node they are in: those of node i are
    ``row_ids[row_starts[i] : row_starts[i + 1]]``, in order."""

    row_ids: Ints
    row_starts: Ints

    @classmethod
    def by(cls, places: Labels, n_nodes: int) -> Grouped:
        """Group rows by the place of their node; those at `n_nodes` are left out."""
        counts = np.bincount(places, minlength=n_nodes + 1)[:n_nodes]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        small = places.astype(np.uint16) if n_nodes < 2**16 else places  # sorted by counting
        order = np.argsort(small, kind="stable")[: starts[-1]]
        return cls(order.astype(np.int64, copy=False), starts)

    @property
    def nodes(self) -> Ints:
        """The node of every one of `row_ids`."""
        return np.repeat(np.arange(self.row_starts.size - 1), np.diff(self.row_starts))


@dataclass(frozen=True)
class LevelCenters:
    """Centres of the children to be: those of node i are
    ``values[starts[i] : starts[i + 1]]``; nodes that are not `active` learn no more."""

    values: Floats
    starts: Ints
    active: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """What the kernel is told of a level."""

    row_ids: Ints
    row_starts: Ints
    center_starts: Ints
    active: npt.NDArray[np.bool_]


def no_sums(centers: LevelCenters, space: Space) -> ClusterSums:
    """Of no row yet."""
    n_centers, n_cols = centers.values.shape
    return ClusterSums(
        np.zeros((space.limbs, n_centers, n_cols), dtype=np.int64),
        np.zeros((space.limbs, n_centers), dtype=np.int64),
        np.zeros(n_centers, dtype=np.int64),
    )


def assign_level(
    block: Block,
    grouped: Grouped,
    centers: LevelCenters,
    space: Space,
    labels: Labels,
    sums: ClusterSums,
) -> int:
    """Give every row to the nearest centre of its node and move the sums; how many changed."""
    level = Level(grouped.row_ids, grouped.row_starts, centers.starts, centers.active)
    return kernels.assign_level(
        block.rows, unit_weights(block, space), level, centers.values, space, labels, sums,
        block.n_threads,
    )  # fmt: skip


@dataclass(frozen=True)
class Census:
    """Rows, weight and squared distances of the children of a level; `+` adds other rows.

    Squared distances are in the frame, in whole steps and what is left of them: whole numbers too.
    """

    n_rows: Ints
    weight_sums: Ints
    sq_whole: Ints
    sq_rest: Ints

    def __add__(self, other: Census) -> Census:
        return Census(
            self.n_rows + other.n_rows,
            self.weight_sums + other.weight_sums,
            self.sq_whole + other.sq_whole,
            self.sq_rest + other.sq_rest,
        )

    def sq_dists(self, step: float) -> Floats:
        """Weighted sums of squared distances, in the frame and in units of weight."""
        return (self.sq_whole + self.sq_rest * 2.0**-_REST_BITS) / step


def sq_dist_step(n_rows: int, n_cols: int) -> float:
    """Steps to a squared distance of one, such that no sum of all rows' overflows."""
    # In the frame no coordinate exceeds one in size, so that no difference exceeds two.
    bits = int(np.ceil(np.log2(4.0 * n_cols * (n_rows + 1))))
    return float(2.0 ** min(50, 61 - bits))


def count_level(
    block: Block, grouped: Grouped, centers: LevelCenters, space: Space, step: float, labels: Labels
) -> Census:
    """Rows, weight and squared distances of the children, by labels that are theirs."""
    n_centers = len(centers.values)
    here = np.zeros(block.n_rows, dtype=np.int32)
    here[grouped.row_ids] = labels[grouped.row_ids]
    dists = np.empty(block.n_rows)
    sq_dists(block, centers.values, space, here, dists)
    weights = unit_weights(block, space)
    if weights is not None:
        dists *= weights
    chosen, steps = here[grouped.row_ids], dists[grouped.row_ids] * step
    whole = np.rint(steps)
    rest = np.rint((steps - whole) * 2.0**_REST_BITS)
    sums = np.zeros((2, n_centers), dtype=np.int64)
    np.add.at(sums[0], chosen, whole.astype(np.int64))
    np.add.at(sums[1], chosen, rest.astype(np.int64))
    n_rows = np.bincount(chosen, minlength=n_centers).astype(np.int64)
    weight_sums = np.zeros((space.limbs, n_centers), dtype=np.int64)
    return Census(n_rows, weight_sums, *sums)


class LevelRows(ABC):
    """The rows of the nodes of a level that are to be split."""

    def __init__(self, source: Source, step: float) -> None:
        self.source = source
        self.step = step

    def enter(self, growing: Growing) -> None:
        """Go on to the next level."""
        self.growing = growing

    @abstractmethod
    def forget(self) -> None:
        """Begin anew with other centres."""

    @abstractmethod
    def sums(self, centers: LevelCenters) -> ClusterSums:
        """What the rows nearest to each centre sum to; of nodes that are active."""

    @abstractmethod
    def census(self, centers: LevelCenters) -> Census:
        """Rows, weight and squared distances by the nearest of these centres; of all nodes."""

    @abstractmethod
    def settle(self, node_of_center: Labels) -> None:
        """Have the rows of each centre be in this node from now on; -1: in that they are in."""

    @abstractmethod
    def leaves(self, tree: Tree) -> Labels:
        """The number of the leaf of every row, once the tree is grown."""


class KeptRows(LevelRows):
    """Rows in memory, whose nodes are known. Memory: 20 bytes per row."""

    def __init__(self, source: ArraySource, step: float) -> None:
        super().__init__(source, step)
        (self.block,) = source
        self._nodes = np.zeros(self.block.n_rows, dtype=np.int32)
        self._labels = np.full(self.block.n_rows, -1, dtype=np.int32)
        self._sums: ClusterSums | None = None

    def enter(self, growing: Growing) -> None:
        super().enter(growing)
        self.grouped = Grouped.by(growing.tree.leaf_numbers[self._nodes], growing.n_split)
        self.forget()

    def forget(self) -> None:
        self._labels.fill(-1)
        self._sums = None

    def sums(self, centers: LevelCenters) -> ClusterSums:
        space = self.growing.space
        if self._sums is None:
            self._sums = no_sums(centers, space)
        assign_level(self.block, self.grouped, centers, space, self._labels, self._sums)
        return self._sums

    def census(self, centers: LevelCenters) -> Census:
        weight_sums = self.sums(centers).weight_sums
        counted = count_level(
            self.block, self.grouped, centers, self.growing.space, self.step, self._labels
        )
        return Census(counted.n_rows, weight_sums.copy(), counted.sq_whole, counted.sq_rest)

    def settle(self, node_of_center: Labels) -> None:
        ids = self.grouped.row_ids
        to = node_of_center[self._labels[ids]]
        self._nodes[ids] = np.where(to < 0, self._nodes[ids], to)

    def leaves(self, tree: Tree) -> Labels:
        return tree.leaf_numbers[self._nodes]


class PassingRows(LevelRows):
    """Rows that only come by. Memory: nothing of the order of the rows."""

    def forget(self) -> None:
        pass

    def sums(self, centers: LevelCenters) -> ClusterSums:
        return self.source.total(sum_passing, self.growing, centers)

    def census(self, centers: LevelCenters) -> Census:
        return self.source.total(count_passing, self.growing, centers, self.step)

    def settle(self, node_of_center: Labels) -> None:
        pass

    def leaves(self, tree: Tree) -> Labels:
        return self.source.map(go_down, tree, self.growing.space, 1, dtype=np.int32)


def sum_passing(block: Block, growing: Growing, centers: LevelCenters) -> ClusterSums:
    """What the rows of a block add to the centres of their nodes."""
    grouped = Grouped.by(growing.places(block), growing.n_split)
    labels = np.full(block.n_rows, -1, dtype=np.int32)
    sums = no_sums(centers, growing.space)
    assign_level(block, grouped, centers, growing.space, labels, sums)
    return sums


def count_passing(block: Block, growing: Growing, centers: LevelCenters, step: float) -> Census:
    """Rows, weight and squared distances of the children in a block."""
    grouped = Grouped.by(growing.places(block), growing.n_split)
    labels = np.full(block.n_rows, -1, dtype=np.int32)
    sums = no_sums(centers, growing.space)
    assign_level(block, grouped, centers, growing.space, labels, sums)
    counted = count_level(block, grouped, centers, growing.space, step, labels)
    return Census(counted.n_rows, sums.weight_sums, counted.sq_whole, counted.sq_rest)


def go_down(block: Block, tree: Tree, space: Space, beam: int, labels: Labels) -> None:
    """Fill in the nearest of the leaves that every row of a block reaches with a beam."""
    kernels.find_leaves(block.rows, tree, space.scale, beam, labels, block.n_threads)


def level_rows(source: Source, step: float) -> LevelRows:
    """The rows of a source, by where they are."""
    if isinstance(source, ArraySource):
        return KeptRows(source, step)
    return PassingRows(source, step)
