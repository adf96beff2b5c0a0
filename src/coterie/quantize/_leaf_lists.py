"""Rows held leaf by leaf, and the nearest of them to a query: an inverted file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.quantize._tree import Floats, Ints, Labels, Tree


@dataclass(frozen=True)
class LeafLists:
    """Rows by leaf: those of leaf l are ``rows[starts[l] : starts[l + 1]]``, with their `ids`.

    Memory: the rows, and 8 bytes for each.
    """

    rows: npt.NDArray[Any]
    ids: Ints
    starts: Ints

    @classmethod
    def empty(cls, n_leaves: int, n_cols: int, dtype: npt.DTypeLike) -> LeafLists:
        """Of no rows."""
        none = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, n_cols), dtype), none, np.zeros(n_leaves + 1, dtype=np.int64))

    def with_rows(self, rows: npt.NDArray[Any], ids: Ints, leaves: Labels) -> LeafLists:
        """The same with more rows, each at its leaf, after those that are there."""
        n_leaves = self.starts.size - 1
        all_leaves = np.concatenate([np.repeat(np.arange(n_leaves), np.diff(self.starts)), leaves])
        order = np.argsort(all_leaves, kind="stable")
        n_held = len(self.rows)
        held = np.empty((order.size, self.rows.shape[1]), dtype=self.rows.dtype)
        before = order < n_held
        held[before], held[~before] = self.rows[order[before]], rows[order[~before] - n_held]
        counts = np.bincount(all_leaves, minlength=n_leaves)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return LeafLists(held, np.concatenate([self.ids, ids])[order], starts)


@dataclass(frozen=True)
class Found:
    """The nearest rows of each query, as distances and ids, and how many rows were looked at."""

    distances: Floats
    ids: Ints
    n_looked_at: int


def search_lists(
    queries: Floats, tree: Tree, lists: LeafLists, scale: float, k: int, beam: int, n_threads: int
) -> Found:
    """The k nearest rows of every query among those in the leaves it reaches.

    Nearest first, ties to the lower id; infinity and -1 where there are fewer. Time O(beam) lists
    per query, memory that of the answer.
    """
    sq_dists = np.empty((len(queries), k))
    ids = np.empty((len(queries), k), dtype=np.int64)
    n_looked_at = kernels.search_leaves(
        queries, tree, scale, lists.rows, lists.ids, lists.starts, beam, sq_dists, ids, n_threads
    )
    distances = np.sqrt(sq_dists)
    distances /= scale
    return Found(distances, ids, n_looked_at)
