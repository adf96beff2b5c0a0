"""The tally of rows that only come by: every assignment is a pass that remembers no row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._passes import (
    assign,
    farthest_of,
    few_means,
    labels_of,
    sq_dists,
    sum_nearest,
    sum_sq_dists,
)
from coterie.centroid._space import Space
from coterie.centroid._tally import Floats, Ints, Labels, Move, Tally
from coterie.data import ArraySource, Block, Source

#: Values gathered at a time for means of few rows.
_FEW_VALUES = 1 << 22


class StreamedTally(Tally):
    """What each cluster sums to, from one pass an assignment; equal to a `KeptTally` to the bit.

    Where the labels are needed again, rows are given to the centres of the last assignment once
    more, and what was moved since is put right. Memory: nothing of the order of the rows.
    """

    def __init__(self, blocks: Source, space: Space, n_clusters: int) -> None:
        super().__init__(blocks, space, n_clusters)
        self._n_rows = np.zeros(n_clusters, dtype=np.int64)
        self._labelling: Labelling | None = None

    def assign(self, centers: Floats) -> int | None:
        found = self.blocks.total(sum_nearest, centers, self.space)
        self.sums, self.weight_sums = found.sums, found.weight_sums
        self._n_rows = found.n_rows
        self._labelling = ByCenters(centers, self.space)
        return None

    def publish(self, centers: Floats) -> tuple[Labels, float]:
        labels = assign(self.blocks, centers, self.space)
        return labels, sum_sq_dists(self.blocks, centers, self.space)

    def labels_now(self) -> Labels:
        return self.blocks.map(fill_labels, self._labelling, dtype=np.int32)

    def _n_rows_of_each(self) -> Ints:
        return self._n_rows

    def _put_few_means(self, few: npt.NDArray[np.bool_], n_few: int, means: Floats) -> None:
        clusters = np.flatnonzero(few)
        at_once = max(1, _FEW_VALUES // (n_few * self.blocks.n_cols))
        for start in range(0, clusters.size, at_once):
            some = np.zeros_like(few)
            some[clusters[start : start + at_once]] = True
            members = self.blocks.total(gather_members, self._labelling, some)
            gathered, labels = members.together(self.blocks)
            (block,) = gathered
            few_means(block, self.space, labels, some, means)

    def _sse(self, centers: Floats) -> float:
        return self.blocks.total(sse_under, self._labelling, centers)

    def move_farthest(self, centers: Floats, empty: Ints) -> list[Move]:
        assert self._labelling is not None
        found = self.blocks.total(find_farthest, self._labelling, centers, empty.size)
        moves = []
        for at, to in enumerate(empty[: found.rows.size].tolist()):
            one = ArraySource(found.values[[at]], found.weight_of(at), self.blocks.n_threads)
            alone = one.total(sum_nearest, one.take([0]), self.space)
            move = Move(int(found.rows[at]), int(found.labels[at]), to)
            self._move_sums(alone.sums[:, 0], alone.weight_sums[:, 0], move.source, to)
            self._move_rows(move)
            moves.append(move)
        return moves

    def _move_rows(self, move: Move) -> None:
        """Have the row that was moved labelled and counted where it is now."""
        assert isinstance(self._labelling, ByCenters)
        self._n_rows[move.source] -= 1
        self._n_rows[move.to] += 1
        self._labelling = self._labelling.after(move)


class Labelling(ABC):
    """How the rows are labelled now: what tells the labels of a block, on any machine."""

    space: Space

    @abstractmethod
    def of(self, block: Block) -> Labels:
        """The labels of a block's rows."""


@dataclass(frozen=True)
class ByCenters(Labelling):
    """By the nearest centre, but for a few rows that were moved."""

    centers: Floats
    space: Space
    moved: dict[int, int] = field(default_factory=dict)

    def after(self, move: Move) -> ByCenters:
        """The same once one more row was moved."""
        return replace(self, moved=self.moved | {move.row: move.to})

    def of(self, block: Block) -> Labels:
        labels = labels_of(block, self.centers, self.space)
        for row, cluster in self.moved.items():
            if block.span.start <= row < block.span.stop:
                labels[row - block.start] = cluster
        return labels


def fill_labels(block: Block, labelling: Labelling, labels: Labels) -> None:
    """Fill in the labels of a block's rows."""
    labels[:] = labelling.of(block)


def sse_under(block: Block, labelling: Labelling, centers: Floats) -> float:
    """Weighted sum of squared distances to the centres of the labels."""
    return sq_dists(block, centers, labelling.space, labelling.of(block))


@dataclass(frozen=True)
class Members:
    """Rows of some clusters, their weights and labels; `+` puts those of later blocks behind."""

    rows: tuple[Any, ...]
    weights: tuple[Floats, ...]
    labels: tuple[Labels, ...]

    def __add__(self, other: Members) -> Members:
        return Members(
            self.rows + other.rows, self.weights + other.weights, self.labels + other.labels
        )

    def together(self, blocks: Source) -> tuple[ArraySource, Labels]:
        """All rows as a source, and their labels."""
        weights = np.concatenate(self.weights) if self.weights else None
        rows = np.concatenate(self.rows)
        return ArraySource(rows, weights, blocks.n_threads), np.concatenate(self.labels)


def gather_members(block: Block, labelling: Labelling, some: npt.NDArray[np.bool_]) -> Members:
    """The rows of a block that are in one of `some` clusters."""
    labels = labelling.of(block)
    here = np.flatnonzero(some[labels])
    weights = () if block.weights is None else (block.weights[here],)
    return Members((_dense(block.rows[here]),), weights, (labels[here],))


@dataclass(frozen=True)
class Farthest:
    """The rows farthest from their centres: numbers, squared distances, labels, values, weights.

    Farthest first, ties to the lower row; `+` keeps the farthest `n_wanted` of both.
    """

    n_wanted: int
    rows: Ints
    dists: Floats
    labels: Labels
    values: Any
    weights: Floats | None

    def __add__(self, other: Farthest) -> Farthest:
        dists = np.concatenate([self.dists, other.dists])
        best = np.argsort(-dists, kind="stable")[: self.n_wanted]

        def joined(ours: Any, theirs: Any) -> Any:
            return np.concatenate([ours, theirs])[best]

        weights = None
        if self.weights is not None:
            weights = joined(self.weights, other.weights)
        return Farthest(
            self.n_wanted, joined(self.rows, other.rows), dists[best],
            joined(self.labels, other.labels), joined(self.values, other.values), weights,
        )  # fmt: skip

    def weight_of(self, at: int) -> Floats | None:
        return None if self.weights is None else self.weights[[at]]


def find_farthest(block: Block, labelling: Labelling, centers: Floats, n_wanted: int) -> Farthest:
    """The rows of a block farthest from the centres of their labels; see `farthest_of`."""
    labels = labelling.of(block)
    rows, dists = farthest_of(block, centers, labelling.space, labels, n_wanted)
    here = rows - block.start
    weights = None if block.weights is None else block.weights[here]
    return Farthest(n_wanted, rows, dists, labels[here], _dense(block.rows[here]), weights)


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
