"""Which cluster a new row is nearest to, under the distance of the linkage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import resolve_n_threads
from coterie.distance import as_metric
from coterie.hierarchy._cut import find_heads, halving_weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Distances looked at together.
_TOGETHER = 1 << 22


def describe_clusters(
    rows: Any, method: str, Z: Floats, labels: Ints, n_clusters: int, *, precomputed: bool
) -> dict[str, Any]:
    """What is needed to compare rows with clusters: their centres, or their rows by cluster."""
    sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    shares = 1 / sizes[labels]
    if method in ("weighted", "median"):
        children = Z[:, :2].astype(np.int64)
        shares = halving_weights(children, find_heads(children, n_clusters))
    if method in ("ward", "centroid", "median"):
        centers = np.empty((n_clusters, rows.shape[1]))
        for t in range(rows.shape[1]):
            centers[:, t] = np.bincount(labels, shares * rows[:, t], minlength=n_clusters)
        return {"centers": centers, "sizes": sizes}
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    kept = None if precomputed else rows
    return {"rows": kept, "order": order, "starts": starts, "shares": shares}


@dataclass(frozen=True)
class ClusterRows:
    """Clusters by their centres and sizes, or by their rows and what each of these counts."""

    centers: Floats | None = None
    sizes: Floats | None = None
    rows: npt.NDArray[Any] | None = None
    order: Ints | None = None
    starts: Ints | None = None
    shares: Floats | None = None

    def nearest(
        self,
        X: npt.NDArray[Any],
        method: str,
        metric: Any,
        n_threads: Any,
        metric_params: Mapping[str, Any],
    ) -> Ints:
        """The nearest cluster of every row; without a metric, X holds distances."""
        labels = np.empty(X.shape[0], dtype=np.int64)
        width = self.centers if self.centers is not None else self.order
        assert width is not None
        step = max(1, _TOGETHER // len(width))
        # The metric learns from the rows of the fit again.
        found = metric
        if metric is not None and self.rows is not None:
            found = as_metric(metric, self.rows, who="predict", **metric_params)
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            labels[part] = self._dists(X[part], method, found, n_threads).argmin(axis=1)
        return labels

    def _dists(self, X: npt.NDArray[Any], method: str, metric: Any, n_threads: Any) -> Floats:
        """Distances to all clusters."""
        if self.centers is not None:
            assert self.sizes is not None
            dists = _lengths(X, self.centers, "euclidean", n_threads)
            if method == "ward":
                dists *= np.sqrt(2 * self.sizes / (self.sizes + 1))
            return dists
        assert self.order is not None
        assert self.starts is not None
        assert self.shares is not None
        table = X if metric is None else _lengths(X, self.rows, metric, n_threads)
        table = table[:, self.order]
        if method == "single":
            return np.asarray(np.minimum.reduceat(table, self.starts, axis=1))
        if method == "complete":
            return np.asarray(np.maximum.reduceat(table, self.starts, axis=1))
        return np.asarray(np.add.reduceat(table * self.shares[self.order], self.starts, axis=1))


def _lengths(X: Any, rows: Any, metric: Any, n_threads: Any) -> Floats:
    """Distances of X to some rows."""
    found = as_metric(metric, rows, who="predict")
    left, right = found.prepare(X), found.prepare(rows)
    if left.dtype != right.dtype:
        left, right = left.astype(np.float64), right.astype(np.float64)
    return found.lengths(left, right, resolve_n_threads(n_threads, "predict"))
