"""The one interface to neighbours: nearest, within a radius, and how many.

A kd-tree or a scan of all rows in tiles does the work; both give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory, whole
from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie.distance import Metric, RowFunction, as_metric, prepare_both
from coterie.neighbors.brute import each_lengths, nearest
from coterie.neighbors.kdtree import choose_tree

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


def knn(
    X: Any,
    n_neighbors: int,
    queries: Any = None,
    *,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> Neighbors:
    """The nearest rows of X to every query, nearest first, equals by lower row.

    Without queries the rows of X themselves ask, and each is among its own neighbours. Equal means
    equal before the root is taken (for Euclidean: equal sums of squares).

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    n_neighbors : int
    queries : array of shape (n_queries, n_features) or None
    metric : name in `coterie.distance.METRICS` or callable
        A callable is called for every pair, which is slow.
    method : {"auto", "kdtree", "brute"}
        The same result by a tree of boxes, which pays in up to some 20 columns, or by comparing
        with all rows, which serves every metric.
    n_threads : int or None

    Returns
    -------
    Neighbors
        `dists` (float64) and `ids` (int64), each of shape (n_queries, n_neighbors).
    """
    ask = _Question.of("knn", X, queries, metric, method, n_threads, metric_params)
    n_neighbors = ask.check_k("n_neighbors", n_neighbors)
    check_memory(
        "knn",
        16 * ask.n_queries * n_neighbors,
        f"{n_neighbors} neighbours of {ask.n_queries} queries",
        "ask for fewer at a time, or use kth_distances",
    )
    found = Neighbors(
        np.empty((ask.n_queries, n_neighbors)),
        np.empty((ask.n_queries, n_neighbors), dtype=np.int64),
    )
    if ask.metric.native is not None:
        kernels.knn(ask.rows, ask.queries, ask.metric.native, ask.by_tree, *found, ask.n_threads)
    else:
        for q, lengths in enumerate(ask.each_lengths()):
            found.ids[q] = nearest(lengths, n_neighbors)
            found.dists[q] = lengths[found.ids[q]]
    return found


def kth_distances(
    X: Any,
    k: int,
    queries: Any = None,
    *,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> tuple[Floats, Floats]:
    """Distance of every query to its k-th nearest row, and the mean of the distances up to it.

    Without queries a row counts as its own first neighbour, as in DBSCAN's `min_samples`; the mean
    is over the k - 1 others. Memory 16 bytes a query beside the tree.

    Returns
    -------
    kth, mean : float64 arrays of shape (n_queries,)
    """
    ask = _Question.of("kth_distances", X, queries, metric, method, n_threads, metric_params)
    k = ask.check_k("k", k)
    kth, mean = np.empty(ask.n_queries), np.empty(ask.n_queries)
    if ask.metric.native is not None:
        kernels.kth_lengths(
            ask.rows, ask.queries, k, ask.metric.native, ask.by_tree, kth, mean, ask.n_threads
        )
    else:
        for q, lengths in enumerate(ask.each_lengths()):
            ordered = np.sort(lengths)[:k]
            kth[q], mean[q] = ordered[-1], ordered.sum() / max(1, k - (ask.queries is None))
    return kth, mean


def count_within(
    X: Any,
    radius: float,
    queries: Any = None,
    *,
    weights: Any = None,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> npt.NDArray[Any]:
    """How many rows of X, or how much of their weight, lie within `radius` of every query.

    Within means at a distance of at most `radius`; for Euclidean the sum of squares is compared
    with radius * radius. Nothing is listed: memory 8 bytes a query beside the tree.

    Returns
    -------
    int64 array of shape (n_queries,), float64 with weights
    """
    ask = _Question.of("count_within", X, queries, metric, method, n_threads, metric_params)
    counts = ask.count(_check_radius("count_within", radius), _as_weights(weights, ask.rows))
    return counts if weights is not None else counts.astype(np.int64)


def within(
    X: Any,
    radius: float,
    queries: Any = None,
    *,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> NeighborLists:
    """The rows of X within `radius` of every query, by row; see `count_within` for what that means.

    Counts first, so that memory is what the lists need: 16 bytes a neighbour.

    Returns
    -------
    NeighborLists
        `indptr` (n_queries + 1), `ids` and `dists` (as many as there are neighbours).
    """
    ask = _Question.of("within", X, queries, metric, method, n_threads, metric_params)
    radius = _check_radius("within", radius)
    indptr = np.zeros(ask.n_queries + 1, dtype=np.int64)
    indptr[1:] = np.cumsum(ask.count(radius, None))
    n_found = int(indptr[-1])
    check_memory(
        "within", 16 * n_found, f"{n_found} neighbours", "lower radius, or use count_within"
    )
    found = NeighborLists(indptr, np.empty(n_found, dtype=np.int64), np.empty(n_found))
    if ask.metric.native is not None:
        kernels.list_within(
            ask.rows, ask.queries, radius, ask.metric.native, ask.by_tree, *found, ask.n_threads
        )
    else:
        for q, lengths in enumerate(ask.each_lengths()):
            ids = np.flatnonzero(lengths <= radius)
            counted = indptr[q + 1] - indptr[q]
            if ids.size != counted:
                raise ValueError(
                    f"within: metric={ask.metric.name!r} gave query {q} {counted} neighbours, then "
                    f"{ids.size}; pass a function that always gives the same distance."
                )
            found.ids[indptr[q] : indptr[q + 1]] = ids
            found.dists[indptr[q] : indptr[q + 1]] = lengths[ids]
    return found


@dataclass(frozen=True)
class _Question:
    """What is asked of whom: everything the searches share, checked."""

    who: str
    metric: Metric
    rows: npt.NDArray[Any]
    queries: npt.NDArray[Any] | None
    by_tree: bool
    n_threads: int

    @staticmethod
    def of(
        who: str,
        X: Any,
        queries: Any,
        metric: str | RowFunction | Metric,
        method: str,
        n_threads: int | None,
        metric_params: dict[str, Any],
    ) -> _Question:
        """Prepare rows and queries, and choose the road."""
        found = as_metric(metric, X, who=who, **metric_params)
        rows, others = prepare_both(found, X, queries)
        by_tree = choose_tree(who, found, method, *rows.shape)
        asking = None if queries is None else others
        return _Question(who, found, rows, asking, by_tree, resolve_n_threads(n_threads, who))

    @property
    def n_queries(self) -> int:
        return int((self.rows if self.queries is None else self.queries).shape[0])

    def check_k(self, name: str, k: Any) -> int:
        """A number of neighbours; more than there are rows are refused."""
        n_rows = self.rows.shape[0]
        if not whole(1).allows(k) or int(k) > n_rows:
            raise ValueError(
                f"{self.who}: {name}={k!r} and X has {n_rows} rows; use a whole number from 1 to "
                "the number of rows."
            )
        return int(k)

    def each_lengths(self) -> Any:
        """Distances query by query, for Python functions."""
        return each_lengths(
            self.metric, self.rows, self.rows if self.queries is None else self.queries
        )

    def count(self, radius: float, weights: Floats | None) -> Floats:
        """Rows, or their weight, within the radius of every query."""
        counts = np.empty(self.n_queries)
        if self.metric.native is not None:
            kernels.count_within(
                self.rows, self.queries, radius, self.metric.native, self.by_tree, weights, counts,
                self.n_threads,
            )  # fmt: skip
        else:
            for q, lengths in enumerate(self.each_lengths()):
                near = lengths <= radius
                counts[q] = near.sum() if weights is None else weights[near].sum()
        return counts


def _check_radius(who: str, radius: Any) -> float:
    if not isinstance(radius, (int, float, np.number)) or not radius >= 0:
        raise ValueError(f"{who}: radius={radius!r} was given; use a number of zero or more.")
    return float(radius)


def _as_weights(weights: Any, rows: npt.NDArray[Any]) -> Floats | None:
    if weights is None:
        return None
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (rows.shape[0],):
        raise ValueError(
            f"count_within: weights have shape {weights.shape} and X has {rows.shape[0]} rows; "
            "pass one weight a row."
        )
    return weights
