"""Mutual reachability: distances that are never less than the core distances of both rows.

Rows are measured by a metric, or distances are given as a table; either offers the spanning tree of
mutual reachability and, for other rows, the row of the fit that they reach first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric
from coterie.neighbors import Index, SpanningTree
from coterie.neighbors.brute import first_reached
from coterie.neighbors.index import FirstReached
from coterie.neighbors.spanning import graph_tree, prim

Floats = npt.NDArray[np.float64]

_TILE = 256


class ReachTree(NamedTuple):
    """The spanning tree of mutual reachability, and the core distances that it is made of."""

    tree: SpanningTree
    cores: Floats


@dataclass(frozen=True)
class Reachability:
    """max(core of i, core of j, d(i, j) / alpha), cores being distances to the k-th nearest row.

    A row is the first of its own k nearest.
    """

    k: int
    alpha: float
    n_threads: int

    def _grown(self, cores: Floats) -> Floats:
        """Alpha times the cores: numbers where the cores are."""
        if self.alpha == 1:
            return cores
        with np.errstate(over="ignore"):
            grown = cores * self.alpha
        return np.where(np.isfinite(cores), np.minimum(grown, np.finfo(np.float64).max), grown)

    def _shrunk(self, dists: Floats) -> Floats:
        """Distances over alpha: infinite where these are beyond all numbers."""
        with np.errstate(over="ignore"):
            return np.asarray(dists / self.alpha)

    def _shrink(self, tree: SpanningTree, cores: Floats) -> SpanningTree:
        """Lengths over alpha, of a tree that was built with alpha times the cores."""
        if self.alpha == 1:
            return tree
        least = np.maximum(cores[tree.heads], cores[tree.tails])
        lengths = self._shrunk(tree.lengths)
        with np.errstate(over="ignore"):
            about = lengths <= least * (1 + 1e-15)  # which is off by an ulp
        lengths = np.where(about, least, lengths)
        return SpanningTree(tree.heads, tree.tails, np.maximum.accumulate(lengths))

    def index(self, rows: npt.NDArray[Any], metric: Metric) -> Index:
        """Rows that `metric` has prepared, asked by such for the tree and for what they reach."""
        return Index.over_prepared("HDBSCAN", rows, metric.of_prepared(), n_threads=self.n_threads)

    def of_rows(self, index: Index) -> ReachTree:
        """The tree of rows under a metric."""
        cores, _ = index.kth_distances(self.k)
        tree = index.spanning_tree(self._grown(cores))
        return ReachTree(self._shrink(tree, cores), cores)

    def of_table(self, dists: Floats) -> ReachTree:
        """The tree of a dense table of distances; O(n) memory beside it.

        The diagonal is not read. Where the two distances of a pair differ by rounding, the lesser
        counts, whichever row comes first.
        """
        cores = np.concatenate(
            [_kth_of_own(part, i * _TILE, self.k) for i, part in enumerate(_slabs(dists))]
        )
        tree = prim(
            len(dists), lambda i: np.minimum(dists[i], dists[:, i]) + 0.0, self._grown(cores)
        )
        return ReachTree(self._shrink(tree, cores), cores)

    def of_graph(self, dists: Any) -> ReachTree:
        """The tree of a CSR table of distances, in which what is not stored is far.

        A row is the nearest to itself, whether or not the diagonal is stored.
        """
        n_rows = dists.shape[0]
        rows = np.repeat(np.arange(n_rows), np.diff(dists.indptr))
        others = rows != dists.indices
        rows, columns = rows[others], dists.indices[others]
        lengths = dists.data[others].astype(np.float64) + 0.0
        n_known = np.bincount(rows, minlength=n_rows) + 1  # with the row itself
        if n_known.min() < self.k:
            row = int(n_known.argmin())
            raise ValueError(
                f"HDBSCAN: row {row} of the sparse X stores distances to {n_known[row] - 1} other "
                f"rows and min_samples={self.k} needs {self.k - 1}; store at least so many in "
                "every row, or lower min_samples."
            )
        cores = np.zeros(n_rows)
        if self.k > 1:
            nearest_first = np.lexsort((lengths, rows))
            starts = np.concatenate([[0], np.cumsum(n_known[:-1] - 1)])
            cores = lengths[nearest_first[starts + self.k - 2]]
        once = rows < columns
        rows, columns, lengths = rows[once], columns[once], self._shrunk(lengths[once])
        lengths = np.maximum(lengths, np.maximum(cores[rows], cores[columns]))
        tree = graph_tree(n_rows, rows, columns, lengths)
        n_groups = n_rows - tree.lengths.size
        if n_groups > 1:
            raise ValueError(
                f"HDBSCAN: the stored distances of the sparse X join its {n_rows} rows to "
                f"{n_groups} separate groups; store distances between them, or cluster each group "
                "by itself."
            )
        return ReachTree(tree, cores)

    def first_by_index(self, index: Index, cores: Floats, queries: Any) -> FirstReached:
        """The row that each query reaches first; ties by distance, then row."""
        query_cores, _ = index.kth_distances(self.k, queries)
        return index.nearest_reachable(cores, queries, query_cores, self.alpha)

    def first_by_table(self, dists: Floats, cores: Floats) -> FirstReached:
        """The same from the distances of queries to the rows of the fit, (n_queries, n_rows)."""
        query_cores = np.concatenate([_kth(part, self.k) for part in _slabs(dists)])
        found = FirstReached(np.empty(len(dists), dtype=np.int64), np.empty(len(dists)))
        for q, lengths in enumerate(dists):
            found.ids[q], found.lengths[q] = first_reached(
                lengths, cores, query_cores[q], self.alpha
            )
        return found


def _slabs(dists: Floats) -> Iterator[Floats]:
    """Some rows of a table at a time."""
    for start in range(0, len(dists), _TILE):
        yield dists[start : start + _TILE]


def _kth(dists: Floats, k: int) -> Floats:
    """The k-th smallest of every row."""
    return np.asarray(np.partition(dists, k - 1, axis=1)[:, k - 1], dtype=np.float64)


def _kth_of_own(dists: Floats, first: int, k: int) -> Floats:
    """The same for rows from `first` on of a square table, each being at distance 0 from itself."""
    own = np.array(dists, dtype=np.float64)
    own[np.arange(len(own)), np.arange(first, first + len(own))] = 0.0
    return _kth(own, k)
