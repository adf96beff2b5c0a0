"""Dunn's index and its generalisations: how far clusters are apart over how wide they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, one_of
from coterie.distance import Metric, RowFunction, as_metric
from coterie.evaluate._coded import Noise, as_labels
from coterie.evaluate._compared import open_compared
from coterie.evaluate._lengths_by_cluster import (
    Measure,
    Runs,
    by_cluster,
    given_square,
    looked_up,
    measured,
    tiles,
)
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import LabelledRows, open_rows
from coterie.evaluate._spread import find_means

Floats = npt.NDArray[np.float64]

#: How far two clusters are apart, in the order of the paper.
BETWEEN = ("single", "complete", "average", "centroid", "to_centroid", "hausdorff")
#: How wide a cluster is, in the order of the paper.
WITHIN = ("diameter", "average", "centroid")
_BY_CENTROIDS = {"centroid", "to_centroid"}

#: Distances to centres that are looked at together: 8 MB.
_TILE_NUMBERS = 1 << 20


def dunn_score(
    X: Any,
    labels: Any,
    *,
    between: str = "single",
    within: str = "diameter",
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> float:
    """The least distance between two clusters over the largest width of one; larger is better.

    Dunn (1973) has the defaults, min over rows and the largest distance within a cluster, which one
    stray row spoils; the others are those of Bezdek & Pal (1998), of which averages and centroids
    are robust. Time O(n^2 d) and memory one copy of the rows, a tile and k^2 numbers; with
    centroids alone O(n k d), from any source.

    Parameters
    ----------
    between : {"single", "complete", "average", "centroid", "to_centroid", "hausdorff"}
        The distance of two clusters: the least, the largest or the mean one of their rows, that of
        their means, the mean one of the rows of each to the mean of the other, or the largest one
        of a row to the nearest of the other cluster.
    within : {"diameter", "average", "centroid"}
        The width of a cluster: the largest or the mean distance of two rows, or twice the mean
        distance to the mean.
    X, labels, metric, sample_weight, noise, n_threads, **kwds
        See `silhouette_samples`. Given distances know no means.

    Returns
    -------
    float
        0 or more; 0 where two clusters are no distance apart, else infinite where none has a width.

    Examples
    --------
    >>> from coterie.evaluate import dunn_score
    >>> dunn_score([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    3.5
    """
    who = "dunn_score"
    rules = {"between": one_of(*BETWEEN), "within": one_of(*WITHIN)}
    check_params(who, {"between": between, "within": within}, rules)
    apart_by_means, wide_by_means = between in _BY_CENTROIDS, within == "centroid"
    if isinstance(metric, str) and metric == "precomputed":
        if apart_by_means or wide_by_means:
            raise ValueError(
                f"{who}: between={between!r} and within={within!r} need means of rows, and "
                "metric='precomputed' knows none; use those of rows, such as 'average'."
            )
        square = given_square(who, X, as_labels(who, labels, "labels").size)
        given = open_rows(who, np.zeros((square.shape[0], 1)), labels, sample_weight, noise)
        runs = by_cluster(given)
        found = _look_at_pairs(runs, looked_up(square, runs))
        return _index(found.between(between), found.within(within))
    if metric == "gower" and (apart_by_means or wide_by_means):
        raise ValueError(
            f"{who}: between={between!r} and within={within!r} need means of rows, and mixed "
            "tables have none; use those of rows, such as 'average'."
        )
    given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
    looks: dict[bool, _Pairs | _Means] = {
        by_means: (_look_at_means if by_means else _look_at_rows)(given, *asked)
        for by_means in (apart_by_means, wide_by_means)
    }
    return _index(looks[apart_by_means].between(between), looks[wide_by_means].within(within))


def _index(apart: Floats, widths: Floats) -> float:
    """The least distance of two clusters over the largest width."""
    widest = float(widths.max())
    least = float(apart[~np.eye(len(apart), dtype=bool)].min())
    if widest > 0:
        return least / widest
    return np.inf if least > 0 else 0.0


@dataclass(frozen=True)
class _Pairs:
    """Of every two clusters the least, largest and summed distance of their rows.

    `farthest` is the largest distance of a row of the first to the nearest of the second.
    """

    least: Floats
    largest: Floats
    sums: Floats
    farthest: Floats
    totals: Floats

    def between(self, kind: str) -> Floats:
        if kind == "average":
            return np.asarray(self.sums / np.outer(self.totals, self.totals))
        if kind == "hausdorff":
            return np.maximum(self.farthest, self.farthest.T)
        return self.least if kind == "single" else self.largest

    def within(self, kind: str) -> Floats:
        if kind == "diameter":
            return np.diag(self.largest)
        n_pairs = self.totals * (self.totals - 1)
        sums = np.diag(self.sums)
        return np.divide(sums, n_pairs, out=np.zeros_like(sums), where=n_pairs > 0)


def _look_at_rows(
    given: LabelledRows, metric: str | RowFunction | Metric, kwds: dict[str, Any]
) -> _Pairs:
    """The distances of all rows, which must be in memory."""
    rows = given.whole()
    made, runs = as_metric(metric, rows, who=given.who, **kwds), by_cluster(given)
    measure = measured(given.who, made.prepare(rows), runs, made, given.n_threads)
    return _look_at_pairs(runs, measure)


def _look_at_pairs(runs: Runs, measure: Measure) -> _Pairs:
    """One look at all distances, a tile at a time."""
    k = runs.totals.size
    least, largest = np.full((k, k), np.inf), np.zeros((k, k))
    sums, farthest = np.zeros((k, k)), np.zeros((k, k))
    clusters, starts = runs.clusters, runs.starts[:-1]
    for some, lengths in tiles(runs, measure):
        own = clusters[some]
        near = np.minimum.reduceat(lengths, starts, axis=1)
        np.minimum.at(least, own, near)
        np.maximum.at(farthest, own, near)
        np.maximum.at(largest, own, np.maximum.reduceat(lengths, starts, axis=1))
        if runs.weights is not None:
            with np.errstate(over="ignore"):  # told by the index, if it is one of sums
                lengths = lengths * runs.weights * runs.weights[some, np.newaxis]
        np.add.at(sums, own, np.add.reduceat(lengths, starts, axis=1))
    return _Pairs(least, largest, sums, farthest, runs.totals)


@dataclass(frozen=True)
class _Means:
    """Distances of the means, and the summed ones of the rows of a cluster to every mean."""

    lengths: Floats
    to_means: Floats
    totals: Floats

    def between(self, kind: str) -> Floats:
        if kind == "centroid":
            return self.lengths
        return np.asarray(
            (self.to_means + self.to_means.T) / np.add.outer(self.totals, self.totals)
        )

    def within(self, kind: str) -> Floats:
        return 2 * np.diag(self.to_means) / self.totals


def _look_at_means(
    given: LabelledRows, metric: str | RowFunction | Metric, kwds: dict[str, Any]
) -> _Means:
    """One pass over all rows for their means, and one for the distances to these."""
    _, means, origin = find_means(given)
    made = as_metric(metric, means + origin, who=given.who, **kwds)
    centers = made.prepare(means + origin)
    shape = (given.n_clusters, given.n_clusters)
    sums = given.summed(_add_lengths, made, centers, shape=shape)
    return _Means(made.lengths(centers, centers, given.n_threads), sums, given.totals())


def _add_lengths(part: Part, metric: Metric, centers: Floats, sums: Floats) -> None:
    """Distances of the rows of each cluster to all means."""
    rows = metric.prepare(part.rows)
    for some in part.tiles(max(1, _TILE_NUMBERS // centers.shape[0])):
        kept = part.codes[some] >= 0
        lengths = metric.lengths(rows[some], centers, part.n_threads)[kept]
        if part.weights is not None:
            lengths *= part.weights[some][kept, np.newaxis]
        np.add.at(sums, part.codes[some][kept], lengths)
