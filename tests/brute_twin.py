"""Search as a dict of rows would do it: every value in float64, column by column, then a sort."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def values_of(rows: NDArray[Any], queries: NDArray[Any], metric: str) -> NDArray[np.float64]:
    """What each query is to each row, smaller for nearer."""
    X, Q = rows.astype(np.float64), queries.astype(np.float64)

    def column_sum(term: Any) -> NDArray[np.float64]:
        total = np.zeros((len(Q), len(X)))
        for t in range(X.shape[1]):
            total += term(X[:, t], Q[:, t, None])
        return total

    if metric in ("euclidean", "sqeuclidean"):
        return column_sum(lambda x, q: (x - q) ** 2)
    products = column_sum(lambda x, q: q * x)
    if metric == "inner_product":
        return 0 - products
    x_norms = np.sqrt(column_sum(lambda x, q: x * x + 0 * q))
    q_norms = np.sqrt(column_sum(lambda x, q: 0 * x + q * q))
    lengths = q_norms * x_norms
    zeros = np.where((x_norms == 0) & (q_norms == 0), 0.0, 1.0)
    return np.where(lengths > 0, 1 - products / np.where(lengths > 0, lengths, 1), zeros)


def nearest(
    values: NDArray[Any], ids: NDArray[np.int64], k: int, root: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The k smallest of every row of values, equals by lower id, filled up with id -1 at inf."""
    dists, found = np.full((len(values), k), np.inf), np.full((len(values), k), -1)
    for q, row in enumerate(values.astype(np.float64)):
        order = np.lexsort((ids, row))[:k]
        dists[q, : len(order)] = np.sqrt(row[order]) if root else row[order]
        found[q, : len(order)] = ids[order]
    return dists, found


def brute(
    rows: NDArray[Any], ids: NDArray[np.int64], queries: NDArray[Any], k: int, metric: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The answer that an exact index must give, to the last bit."""
    return nearest(values_of(rows, queries, metric), ids, k, metric == "euclidean")
