"""The score of density-based clusterings: DBCV."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric, RowFunction, as_metric
from coterie.evaluate._coded import Noise
from coterie.evaluate._compared import open_compared
from coterie.evaluate._rows import check_n_clusters
from coterie.neighbors import Index, SpanningTree

Floats = npt.NDArray[np.float64]

#: Distances that are looked at together: 16 MB.
_TILE_NUMBERS = 1 << 21


def dbcv_score(
    X: Any,
    labels: Any,
    *,
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    noise: Noise = "drop",
    n_threads: int | None = None,
    **kwds: Any,
) -> float:
    """Tell whether clusters of any shape are dense within and apart by thin space.

    Moulavi, Jaskowiak, Campello, Zimek & Sander (2014). The core distance of a row is the mean of
    d(x, y)^-D over the rows y of its cluster, to the power -1/D, in D columns; two rows are as far
    apart as the largest of their distance and both core distances. In the spanning tree of each
    cluster, its *sparseness* is the longest edge between inner nodes, and the *separation* of two
    clusters the least distance of their inner nodes; a cluster's validity is (least separation -
    sparseness) / the larger of both. DBCV is their mean by the share of all rows, where noise rows
    count in the whole and add nothing. From -1 to 1, larger is better. Time O(n^2 d), memory one
    copy of the rows and a tile of distances.

    Parameters
    ----------
    X : array, data frame or CSR matrix of shape (n_rows, n_features), path, Dask collection or
        source
    labels : array-like of shape (n_rows,)
        The cluster of each row.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`, or a function of two rows.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How much each row counts in the means of core distances, in its cluster's share and in the
        whole; those of weight 0 are left out, and a factor common to all changes nothing. Unlike
        elsewhere a weight of 2 is not the row twice: a copy at distance 0 would make its density
        infinite.
    noise : {"drop", "cluster", "singletons"}, default="drop"
        What the label -1 means. "drop": in no cluster, as the paper has it. "cluster": a cluster as
        any other. "singletons": each a cluster of its own, of validity 0.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    **kwds
        Parameters of the metric; see `coterie.distance.as_metric`.

    Returns
    -------
    float
        Where the paper is silent: a cluster of one row has validity 0, where no node or no edge is
        an inner one all count, and copies have core distance 0.
    """
    who = "dbcv_score"
    given, asked = open_compared(
        who, X, labels, metric, kwds, sample_weight, noise, n_threads, at_least=1
    )
    check_n_clusters(replace(given, weights=None))  # rows, whatever they weigh
    rows = given.whole()
    by, params = asked
    found = as_metric(by, rows, who=who, **params)
    prepared, n_cols = found.prepare(rows), rows.shape[1]
    weights = np.ones(given.codes.size) if given.weights is None else given.weights
    clusters = []
    for c in range(given.n_clusters):
        own = given.codes == c
        inside = np.ascontiguousarray(prepared[own])
        clusters.append(_look_at(inside, weights[own], found, n_cols, given.n_threads))
    nearest = np.full(len(clusters), np.inf)
    for i, one in enumerate(clusters):
        for j in range(i):
            apart = _separation(one, clusters[j], found, given.n_threads)
            nearest[i], nearest[j] = min(nearest[i], apart), min(nearest[j], apart)
    valid = [_validity(one, apart) for one, apart in zip(clusters, nearest, strict=True)]
    return float(given.totals() @ valid / weights.sum())


@dataclass(frozen=True)
class _Cluster:
    """The inner nodes of a cluster's tree, their core distances, and its sparseness."""

    n_rows: int
    inner: npt.NDArray[Any]
    cores: Floats
    sparseness: float


def _look_at(
    rows: npt.NDArray[Any], weights: Floats, metric: Metric, n_cols: int, n_threads: int
) -> _Cluster:
    """The tree of a cluster by mutual reachability."""
    n_rows = rows.shape[0]
    if n_rows == 1:
        return _Cluster(1, rows, np.zeros(1), 0.0)
    cores = core_distances(rows, weights, metric, n_cols, n_threads)
    tree = Index.over_prepared("dbcv_score", rows, metric, n_threads=n_threads).spanning_tree(cores)
    is_inner, longest = _inner(tree, n_rows)
    return _Cluster(n_rows, np.ascontiguousarray(rows[is_inner]), cores[is_inner], longest)


def core_distances(
    rows: npt.NDArray[Any], weights: Floats, metric: Metric, n_cols: int, n_threads: int
) -> Floats:
    """The weighted power mean of each row's distances to all others, with the exponent -n_cols.

    Distances are taken as multiples of the least, whose powers can only vanish.
    """
    n_rows = rows.shape[0]
    cores, others = np.empty(n_rows), weights.sum() - weights
    step = max(1, _TILE_NUMBERS // n_rows)
    for start in range(0, n_rows, step):
        some = np.arange(start, min(n_rows, start + step))
        lengths = metric.lengths(rows[some[0] : some[-1] + 1], rows, n_threads)
        lengths[some - start, some] = np.inf
        least = lengths.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            powers = (least[:, np.newaxis] / lengths) ** n_cols * weights
            means = powers.sum(axis=1) / others[some]
            cores[some] = np.where(least > 0, least * means ** (-1 / n_cols), 0.0)
    return cores


def _inner(tree: SpanningTree, n_rows: int) -> tuple[npt.NDArray[np.bool_], float]:
    """Which nodes have several edges, and the longest edge between such; all where none has."""
    ends = np.concatenate([tree.heads, tree.tails])
    is_inner = np.bincount(ends, minlength=n_rows) > 1
    if not is_inner.any():
        return np.ones(n_rows, dtype=bool), float(tree.lengths.max())
    lengths = tree.lengths[is_inner[tree.heads] & is_inner[tree.tails]]
    # A star has one inner node and no inner edge: then all of its edges count.
    return is_inner, float((lengths if lengths.size else tree.lengths).max())


def _separation(one: _Cluster, other: _Cluster, metric: Metric, n_threads: int) -> float:
    """The least mutual reachability of the inner nodes of two clusters."""
    least = np.inf
    step = max(1, _TILE_NUMBERS // other.inner.shape[0])
    for start in range(0, one.inner.shape[0], step):
        some = slice(start, start + step)
        lengths = metric.lengths(one.inner[some], other.inner, n_threads)
        np.maximum(lengths, one.cores[some, np.newaxis], out=lengths)
        np.maximum(lengths, other.cores, out=lengths)
        least = min(least, float(lengths.min()))
    return least


def _validity(one: _Cluster, separation: float) -> float:
    """(separation - sparseness) / max; 0 for one row, and where both are 0."""
    larger = max(separation, one.sparseness)
    if one.n_rows == 1 or larger == 0:
        return 0.0
    return 1.0 if np.isinf(larger) else (separation - one.sparseness) / larger
