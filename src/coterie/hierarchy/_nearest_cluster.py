"""Which cluster a new row is nearest to, under the distance of the linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric, prepare_both
from coterie.hierarchy._cut import find_heads, halving_weights
from coterie.hierarchy._scale import exponent_for, scale_down

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
    kept = None if precomputed else np.array(rows)  # a copy: the caller's may change
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
        self, X: npt.NDArray[Any], method: str, metric: Metric | None, n_threads: int
    ) -> Ints:
        """The nearest cluster of every row; without a metric, X holds distances."""
        labels = np.empty(X.shape[0], dtype=np.int64)
        to = X
        if metric is not None:
            fitted = self.rows if self.centers is None else self.centers
            both: tuple[Any, Any] = prepare_both(metric, X, fitted)  # dense, as both are
            X, to = both
            exponent = exponent_for(metric, X, to)
            X, to = scale_down(X, exponent), scale_down(to, exponent)
        width = self.centers if self.centers is not None else self.order
        assert width is not None
        step = max(1, _TOGETHER // len(width))
        for start in range(0, X.shape[0], step):
            part = X[start : start + step]
            table = part if metric is None else metric.lengths(part, to, n_threads)
            labels[start : start + step] = self._join(table, method).argmin(axis=1)
        return labels

    def _join(self, table: Floats, method: str) -> Floats:
        """Distances to all clusters, from those to their centres or their rows."""
        if self.centers is not None:
            assert self.sizes is not None
            return table * np.sqrt(2 * self.sizes / (self.sizes + 1)) if method == "ward" else table
        assert self.order is not None
        assert self.starts is not None
        assert self.shares is not None
        table = table[:, self.order]
        if method in ("single", "genie"):
            return np.asarray(np.minimum.reduceat(table, self.starts, axis=1))
        if method == "complete":
            return np.asarray(np.maximum.reduceat(table, self.starts, axis=1))
        return np.asarray(np.add.reduceat(table * self.shares[self.order], self.starts, axis=1))
