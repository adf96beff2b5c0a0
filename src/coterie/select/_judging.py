"""How well a partition follows the rows, without labels: its borders, valleys and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from coterie.evaluate import adjusted_rand_score
from coterie.neighbors import Index, SpanningTree

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Nearest rows that a border must not come between: at most and at least; where rows are few, a
#: tenth of them. The nearest, the row itself first, that a core distance reaches to.
NEIGHBORS, FEWEST, CORE = 20, 5, 5
#: The depth of a cluster that has no edge within, and the least of any.
_NO_DEPTH = -3.0
#: Of the spread of all rows: the least spread that a cluster is given.
_FLOOR = 1e-6


@dataclass(frozen=True)
class Parts:
    """What the rows say of a partition; of `border` less is better, of the others more."""

    border: float
    valley: float
    shape: float


class Judge:
    """What the parts need of the rows, found once for all partitions.

    Time that of the nearest rows and of a spanning tree, close to O(n log n) in few columns;
    memory some 400 bytes per row.
    """

    def __init__(self, rows: Floats, n_threads: int) -> None:
        self.rows = rows
        index = Index.over("best_method", rows, "euclidean", "auto", n_threads, {})
        n_rows = len(rows)
        n_near = min(NEIGHBORS, max(FEWEST, n_rows // 10))
        found = index.knn(min(n_rows, n_near + 1))
        self._near = found.ids[:, 1:].astype(np.int64)
        cores = np.ascontiguousarray(found.dists[:, min(CORE, n_rows) - 1])
        self._tree = index.spanning_tree(cores)
        self._log_lengths = log_lengths(self._tree)
        centred = rows - rows.mean(axis=0)
        # All covariances only where they can have an inverse: so they are no larger than the rows.
        few = rows.shape[1] < n_rows
        self._spread = centred.T @ centred / n_rows if few else np.square(centred).mean(axis=0)

    def judge(self, labels: Labels, n_clusters: int) -> Parts:
        """The parts of a partition; O(20 n + n d^2)."""
        return Parts(
            border(self._near, labels, n_clusters),
            valley(self._tree, self._log_lengths, labels, n_clusters),
            shape(self.rows, labels, n_clusters, self._spread),
        )


def log_lengths(tree: SpanningTree) -> Floats:
    """Logarithms of the lengths of the edges; copies are taken for very near."""
    longest = float(tree.lengths.max(initial=0.0))
    least = longest * 1e-9 if longest > 0 else 1.0
    return np.log(np.maximum(tree.lengths, least))


def border(near: npt.NDArray[np.int64], labels: Labels, n_clusters: int) -> float:
    """The largest conductance of a cluster in the graph of nearest rows.

    Of the edges that join each row to its nearest, with both ends counted, the share of a cluster's
    ends whose other end lies in another cluster: cut(C) / vol(C). 0 where no border comes between
    near rows, 1 where clusters are strewn at random among many.
    """
    own = np.repeat(labels, near.shape[1])
    other = labels[near.ravel()]
    crosses = own != other
    ends = np.bincount(own, minlength=n_clusters) + np.bincount(other, minlength=n_clusters)
    cut = np.bincount(own[crosses], minlength=n_clusters) + np.bincount(
        other[crosses], minlength=n_clusters
    )
    return float((cut[ends > 0] / ends[ends > 0]).max())


def valley(tree: SpanningTree, log_length: Floats, labels: Labels, n_clusters: int) -> float:
    """How much longer the edges that leave a cluster are than those within; mean over clusters.

    In the spanning tree of mutual reachability, mean log length of the edges with one end in the
    cluster less that of those with both; at least -3, which a cluster with no edge within has. 0
    where no edge leaves.
    """
    heads, tails = labels[tree.heads], labels[tree.tails]
    within = heads == tails
    n_within, sum_within = _count_and_sum(heads[within], log_length[within], n_clusters)
    ends = np.concatenate([heads[~within], tails[~within]])
    lengths = np.concatenate([log_length[~within], log_length[~within]])
    n_leaving, sum_leaving = _count_and_sum(ends, lengths, n_clusters)
    met = n_leaving > 0
    if not met.any():
        return 0.0
    depth = np.full(n_clusters, _NO_DEPTH)
    known = met & (n_within > 0)
    depth[known] = sum_leaving[known] / n_leaving[known] - sum_within[known] / n_within[known]
    return float(np.maximum(depth[met], _NO_DEPTH).mean())


def _count_and_sum(
    groups: npt.NDArray[np.int64], values: Floats, n_groups: int
) -> tuple[Floats, Floats]:
    counts = np.bincount(groups, minlength=n_groups).astype(np.float64)
    return counts, np.bincount(groups, values, n_groups).astype(np.float64)


def shape(rows: Floats, labels: Labels, n_clusters: int, spread: Floats) -> float:
    """How well clusters are described by a Gaussian each: the best of three kinds, by BIC.

    Classification log-likelihood per row, less (p / 2) log(n) / n for p parameters: with full,
    diagonal or spherical covariances; full ones only where rows are at least k (d + 1). The scatter
    of each cluster is blended with the spread of all rows (covariances, or variances alone), which
    counts as one more row. Constants that all partitions share are dropped.
    """
    n_rows, n_cols = rows.shape
    with_full = spread.ndim == 2 and n_clusters * (n_cols + 1) <= n_rows
    spreads = np.diag(spread) if spread.ndim == 2 else spread
    floor = _FLOOR * (float(spreads.mean()) or 1.0)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    total = np.zeros(3)
    for own in np.split(order, ends[:-1]):
        if own.size == 0:
            continue
        centred = rows[own] - rows[own].mean(axis=0)
        variances = (np.square(centred).sum(axis=0) + spreads) / (own.size + 1) + floor
        log_volumes = [0.0, np.log(variances).sum(), n_cols * np.log(variances.mean())]
        if with_full:
            covariance = (centred.T @ centred + spread) / (own.size + 1) + floor * np.eye(n_cols)
            log_volumes[0] = np.linalg.slogdet(covariance)[1]
        total += own.size * (np.log(own.size / n_rows) - np.array(log_volumes) / 2)
    free = np.array([n_cols * (n_cols + 3) / 2, 2 * n_cols, n_cols + 1]) * n_clusters
    free += n_clusters - 1
    by_kind = total / n_rows - free * np.log(n_rows) / (2 * n_rows)
    return float(by_kind[0 if with_full else 1 :].max())


def agreements(partitions: list[Labels]) -> Floats:
    """How far each partition is like the others: its mean adjusted Rand index; 1 if it is alone."""
    n_partitions = len(partitions)
    if n_partitions < 2:
        return np.ones(n_partitions)
    alike = np.zeros((n_partitions, n_partitions))
    for i, j in combinations(range(n_partitions), 2):
        alike[i, j] = alike[j, i] = adjusted_rand_score(partitions[i], partitions[j])
    return np.asarray(alike.sum(axis=1) / (n_partitions - 1))
