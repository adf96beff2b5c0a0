"""Questions about neighbours as functions of rows; whoever asks twice builds an `Index`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric, RowFunction
from coterie.neighbors.index import Index, NeighborLists, Neighbors
from coterie.neighbors.spanning import SpanningTree

Floats = npt.NDArray[np.float64]


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

    See `Index` for the parameters, and `Index.knn` for what is asked and returned.
    """
    return Index.over("knn", X, metric, method, n_threads, metric_params).knn(n_neighbors, queries)


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

    See `Index` for the parameters, and `Index.kth_distances` for what is asked and returned.
    """
    index = Index.over("kth_distances", X, metric, method, n_threads, metric_params)
    return index.kth_distances(k, queries)


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

    See `Index` for the parameters, and `Index.count_within` for what is asked and returned.
    """
    index = Index.over("count_within", X, metric, method, n_threads, metric_params)
    return index.count_within(radius, queries, weights)


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
    """The rows of X within `radius` of every query, by row.

    See `Index` for the parameters, and `Index.within` for what is asked and returned.
    """
    return Index.over("within", X, metric, method, n_threads, metric_params).within(radius, queries)


def spanning_tree(
    X: Any,
    core_distances: Any = None,
    *,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> SpanningTree:
    """The spanning tree of least total length over the rows of X.

    See `Index` for the parameters, and `Index.spanning_tree` for what is asked and returned.
    """
    index = Index.over("spanning_tree", X, metric, method, n_threads, metric_params)
    return index.spanning_tree(core_distances)
