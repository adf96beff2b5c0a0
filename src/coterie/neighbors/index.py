"""An index of rows: built once, asked often.

A kd-tree or a scan of all rows in tiles does the work; both give the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory, whole
from coterie._config import resolve_n_threads
from coterie._in_memory import held
from coterie._kernels import kernels
from coterie.distance import Compared, Metric, RowFunction, SparseRows, as_metric
from coterie.neighbors._tiled import TiledRows
from coterie.neighbors.brute import EachQuery
from coterie.neighbors.kdtree import choose_tree
from coterie.neighbors.spanning import SpanningTree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Neighbors(NamedTuple):
    """Neighbours of every query, nearest first: `dists` and `ids`, (n_queries, n_neighbors)."""

    dists: Floats
    ids: Ints


class NeighborLists(NamedTuple):
    """Neighbours in the manner of CSR: those of query q are `ids[indptr[q]:indptr[q + 1]]`."""

    indptr: Ints
    ids: Ints
    dists: Floats


class FirstReached(NamedTuple):
    """The row that each query reaches first, and its mutual reachability."""

    ids: Ints
    lengths: Floats


class Index:
    """Rows that are asked for neighbours, built once and asked often.

    Exact. Neighbours are compared by d(x, y), equals by lower row, where equal means equal before
    the root is taken (for Euclidean: equal sums of squares). Every answer has the same bits as the
    function of its name, for either method and any number of threads.

    Building takes O(n log n) time for a tree, none for a scan. A question by tree takes about
    O(log n) per query in few columns; by scan O(n d). Memory: the rows once, which the index has
    for itself, and for a tree about 5 + 1.5 d bytes per row more: X may change or go afterwards.
    Several threads may ask at once. Pickles, and copies, hold the rows and build the tree again.

    Parameters
    ----------
    X : array, CSR matrix, path or source of shape (n_rows, n_features)
        Rows that are elsewhere (files, Dask) are taken into memory, if they fit; so are queries.
        CSR rows stay so where all rows are scanned: some at a time are made dense. A tree, or the
        spanning tree, needs all of them so, and refuses those that do not fit.
    metric : name in `coterie.distance.METRICS`, callable or `Metric`
        A callable is called for every pair, which is slow.
    method : {"auto", "kdtree", "brute"}
        A tree of boxes, which pays in up to some 20 columns, or comparing with all rows, which
        serves every metric.
    n_threads : int or None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    **metric_params
        See `coterie.distance.as_metric`.

    Attributes
    ----------
    metric : Metric
    n_rows, n_cols : int
        Shape of the rows as the metric has prepared them.
    by_tree : bool
        Whether there is a tree.

    Examples
    --------
    >>> from coterie.neighbors import Index
    >>> index = Index([[0.0], [1.0], [5.0]])
    >>> index.knn(2).ids.tolist()
    [[0, 1], [1, 0], [2, 1]]
    >>> index.count_within(1.5, [[4.0], [0.5]]).tolist()
    [1, 2]
    """

    def __init__(
        self,
        X: Any,
        *,
        metric: str | RowFunction | Metric = "euclidean",
        method: str = "auto",
        n_threads: int | None = None,
        **metric_params: Any,
    ) -> None:
        X = held("Index", X, "an index")
        found = as_metric(metric, X, who="Index", **metric_params)
        rows, by_tree = _rows_and_way("Index", found, X, method)
        # A tree copies the rows by itself.
        self._build("Index", rows if by_tree else rows.copy(), found, by_tree, n_threads)

    @classmethod
    def over(
        cls,
        who: str,
        X: Any,
        metric: str | RowFunction | Metric = "euclidean",
        method: str = "auto",
        n_threads: int | None = None,
        metric_params: dict[str, Any] | None = None,
    ) -> Self:
        """An index on behalf of `who`, for as long as X stays as it is: rows are not copied."""
        X = held(who, X, "a search for neighbours")
        found = as_metric(metric, X, who=who, **(metric_params or {}))
        rows, _ = _rows_and_way(who, found, X, method)
        return cls.over_prepared(who, rows, found, method, n_threads)

    @classmethod
    def over_prepared(
        cls,
        who: str,
        rows: Compared,
        metric: Metric,
        method: str = "auto",
        n_threads: int | None = None,
    ) -> Self:
        """The same for rows that the metric has prepared."""
        index = cls.__new__(cls)
        by_tree = choose_tree(who, metric, method, *rows.shape)
        index._build(who, rows, metric, by_tree, n_threads)
        return index

    def _build(
        self,
        who: str,
        rows: Compared,
        metric: Metric,
        by_tree: bool,
        n_threads: int | None,
    ) -> None:
        self._who, self.metric, self.by_tree, self.n_threads = who, metric, by_tree, n_threads
        self.n_rows, self.n_cols = rows.shape
        self._dtype = rows.dtype
        self._rows: Any
        if isinstance(rows, SparseRows):
            self._rows = TiledRows(who, rows, metric)
        elif metric.native is None:
            self._rows = EachQuery(rows, metric)
        else:
            self._rows = kernels.Index(rows, metric.native, by_tree, self._n_threads())

    def knn(self, n_neighbors: int, queries: Any = None) -> Neighbors:
        """The nearest rows to every query, nearest first, equals by lower row.

        Without queries the rows themselves ask, and each is among its own neighbours.

        Parameters
        ----------
        n_neighbors : int
        queries : array of shape (n_queries, n_features) or None

        Returns
        -------
        Neighbors
            `dists` (float64) and `ids` (int64), each of shape (n_queries, n_neighbors).
        """
        asking, n_queries = self._asking(queries)
        n_neighbors = self._check_k("n_neighbors", n_neighbors)
        check_memory(
            self._who,
            16 * n_queries * n_neighbors,
            f"{n_neighbors} neighbours of {n_queries} queries",
            "ask for fewer at a time, or use kth_distances",
        )
        found = Neighbors(
            np.empty((n_queries, n_neighbors)), np.empty((n_queries, n_neighbors), dtype=np.int64)
        )
        self._rows.knn(asking, *found, self._n_threads())
        return found

    def kth_distances(self, k: int, queries: Any = None) -> tuple[Floats, Floats]:
        """Distance of every query to its k-th nearest row, and the mean of those up to it.

        Without queries a row counts as its own first neighbour, as in DBSCAN's `min_samples`; the
        mean is over the k - 1 others. Memory 16 bytes per query.

        Returns
        -------
        kth, mean : float64 arrays of shape (n_queries,)
        """
        asking, n_queries = self._asking(queries)
        k = self._check_k("k", k)
        kth, mean = np.empty(n_queries), np.empty(n_queries)
        self._rows.kth_lengths(asking, k, kth, mean, self._n_threads())
        return kth, mean

    def count_within(
        self, radius: float, queries: Any = None, weights: Any = None
    ) -> npt.NDArray[Any]:
        """How many rows, or how much of their weight, lie within `radius` of every query.

        Within means at a distance of at most `radius`; for Euclidean the sum of squares is compared
        with radius * radius. Nothing is listed: memory 8 bytes per query.

        Parameters
        ----------
        radius : float
        queries : array of shape (n_queries, n_features) or None
        weights : array of shape (n_rows,) or None

        Returns
        -------
        int64 array of shape (n_queries,), float64 with weights
        """
        asking, n_queries = self._asking(queries)
        counts = np.empty(n_queries)
        self._rows.count_within(
            asking, self._check_radius(radius), self._as_weights(weights), counts, self._n_threads()
        )
        return counts if weights is not None else counts.astype(np.int64)

    def within(self, radius: float, queries: Any = None) -> NeighborLists:
        """The rows within `radius` of every query, by row; see `count_within` for what that means.

        Counts first, so that memory is what the lists need: 16 bytes a neighbour.

        Returns
        -------
        NeighborLists
            `indptr` (n_queries + 1), `ids` and `dists` (as many as there are neighbours).
        """
        asking, n_queries = self._asking(queries)
        radius, n_threads, counts = (
            self._check_radius(radius),
            self._n_threads(),
            np.empty(n_queries),
        )
        self._rows.count_within(asking, radius, None, counts, n_threads)
        indptr = np.zeros(n_queries + 1, dtype=np.int64)
        indptr[1:] = np.cumsum(counts)
        n_found = int(indptr[-1])
        check_memory(
            self._who, 16 * n_found, f"{n_found} neighbours", "lower radius, or use count_within"
        )
        found = NeighborLists(indptr, np.empty(n_found, dtype=np.int64), np.empty(n_found))
        self._rows.list_within(asking, radius, *found, n_threads)
        return found

    def spanning_tree(self, core_distances: Any = None) -> SpanningTree:
        """The spanning tree of least total length over the rows.

        The edge between rows i and j is as long as their distance or, with core distances, as
        their mutual reachability max(d(i, j), core i, core j). Edges are compared by (length, lower
        row, higher row), so there is exactly one least tree, also among ties.

        Boruvka's algorithm over a tree, else Prim's: O(n^2 d) time at most. Memory some 50 bytes
        per row beside the tree, or the rows once more.

        Parameters
        ----------
        core_distances : array of shape (n_rows,) or None

        Returns
        -------
        SpanningTree
        """
        cores = self._check_cores(core_distances)
        tree = SpanningTree.empty(self.n_rows)
        self._rows.spanning_tree(cores, tree.heads, tree.tails, tree.lengths, self._n_threads())
        finite = cores is None or bool(np.isfinite(cores).all())
        if finite and self.metric.native is not None and self.metric.name != "gower":
            self.metric.check_lengths(tree.lengths, self._who)
        return tree

    def nearest_reachable(
        self, core_distances: Floats, queries: Any, query_cores: Floats, alpha: float = 1.0
    ) -> FirstReached:
        """The row that each query reaches first: nearest by mutual reachability.

        That of query q and row i is max(d(q, i) / alpha, core q, core i); equals by distance, then
        by lower row.

        Parameters
        ----------
        core_distances, query_cores : float64 arrays of shape (n_rows,) and (n_queries,)
        queries : array of shape (n_queries, n_features)

        Returns
        -------
        FirstReached
            `ids` (int64) and `lengths` (float64), each of shape (n_queries,).
        """
        asking, n_queries = self._asking(queries)
        found = FirstReached(np.empty(n_queries, dtype=np.int64), np.empty(n_queries))
        self._rows.nearest_reachable(
            asking, core_distances, query_cores, alpha, *found, self._n_threads()
        )
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """The rows and what was asked for; who opens it builds the tree."""
        if isinstance(self._rows, (EachQuery, TiledRows)):
            rows = self._rows.rows.copy()
        else:
            rows = np.empty((self.n_rows, self.n_cols), self._dtype)
            self._rows.copy_rows(rows)
        method = "kdtree" if self.by_tree else "brute"
        return type(self).over_prepared, (self._who, rows, self.metric, method, self.n_threads)

    def _n_threads(self) -> int:
        return resolve_n_threads(self.n_threads, self._who)

    def _asking(self, queries: Any) -> tuple[Compared | None, int]:
        """Prepared queries and how many they are; None where the rows ask."""
        if queries is None:
            return None, self.n_rows
        queries = held(self._who, queries, "an answer for each")
        asking = self.metric.prepare_tiles(queries, "queries")
        if isinstance(asking, SparseRows) and not isinstance(self._rows, TiledRows):
            asking = asking.whole(self._who)
        if asking.shape[1] != self.n_cols:
            raise ValueError(
                f"{self._who}: X has {self.n_cols} columns and the queries have "
                f"{asking.shape[1]}; pass rows with the same columns."
            )
        return asking, asking.shape[0]

    def _check_k(self, name: str, k: Any) -> int:
        """A number of neighbours; more than there are rows are refused."""
        if not whole(1).allows(k) or int(k) > self.n_rows:
            raise ValueError(
                f"{self._who}: {name}={k!r} and X has {self.n_rows} rows; use a whole number from "
                "1 to the number of rows."
            )
        return int(k)

    def _check_radius(self, radius: Any) -> float:
        if not isinstance(radius, (int, float, np.number)) or not radius >= 0:
            raise ValueError(
                f"{self._who}: radius={radius!r} was given; use a number of zero or more."
            )
        return float(radius)

    def _as_weights(self, weights: Any) -> Floats | None:
        if weights is None:
            return None
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != (self.n_rows,):
            raise ValueError(
                f"{self._who}: weights have shape {weights.shape} and X has {self.n_rows} rows; "
                "pass one weight per row."
            )
        return weights

    def _check_cores(self, core_distances: Any) -> Floats | None:
        if core_distances is None:
            return None
        cores = np.ascontiguousarray(core_distances, dtype=np.float64)
        if cores.shape != (self.n_rows,) or not (cores >= 0).all():
            raise ValueError(
                f"{self._who}: core_distances have shape {cores.shape} and X has {self.n_rows} "
                "rows; pass one distance of zero or more per row."
            )
        return cores


def _rows_and_way(who: str, metric: Metric, X: Any, method: str) -> tuple[Compared, bool]:
    """Prepared rows, and whether to search them by tree; CSR rows stay so for a native scan."""
    rows = metric.prepare_tiles(X)
    by_tree = choose_tree(who, metric, method, *rows.shape)
    if isinstance(rows, SparseRows) and (by_tree or metric.native is None):
        rows = rows.whole(who)
    return rows, by_tree
