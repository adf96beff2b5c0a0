"""Silhouettes by centres: distances to one point per cluster in place of all its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import check_weights, checked
from coterie.data import elsewhere
from coterie.distance import Compared, Metric, RowFunction, as_metric
from coterie.evaluate._coded import Noise
from coterie.evaluate._compared import open_compared
from coterie.evaluate._lengths_by_cluster import given_square
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import LabelledRows
from coterie.evaluate._scatter import given_centers
from coterie.evaluate._silhouette import weighted_mean
from coterie.evaluate._spread import find_means

Floats = npt.NDArray[np.float64]

#: Distances to centres that are looked at together: 8 MB.
_TILE_NUMBERS = 1 << 20


def simplified_silhouette_samples(
    X: Any,
    labels: Any,
    *,
    centers: Any = None,
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> Floats:
    """Tell of every row how much nearer its own centre is than the next.

    Hruschka, Campello & de Castro (2006): (b - a) / max(a, b), with a the distance to the centre of
    the own cluster and b that to the nearest other centre. O(n k d) and streams over any source,
    against O(n^2 d) of `silhouette_samples`; clusters of one row count as 0, too.

    Parameters
    ----------
    centers : array of shape (n_clusters, n_features) or None, default=None
        One a label, in their order; None: the means.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS` but ``"gower"``, or a function. One that learns from all
        rows needs them in memory.
    X, labels, sample_weight, noise, n_threads, **kwds
        See `silhouette_samples`.

    Returns
    -------
    float64 array of shape (n_rows,)
        From -1 to 1; NaN for rows that are left out.
    """
    who = "simplified_silhouette_samples"
    _refuse_mixed(who, metric)
    given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
    return given.filled(_fill, _centers_of(given, centers, *asked))


def simplified_silhouette_score(
    X: Any,
    labels: Any,
    *,
    centers: Any = None,
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> float:
    """The mean of all `simplified_silhouette_samples`, which has the parameters."""
    who = "simplified_silhouette_score"
    _refuse_mixed(who, metric)
    given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
    total, weight = given.summed(_add, _centers_of(given, centers, *asked), shape=(2,))
    return float(total / weight)


def _refuse_mixed(who: str, metric: Any) -> None:
    if metric == "gower":
        raise ValueError(
            f"{who}: metric='gower' compares mixed tables, which have no means; use "
            "silhouette_score, or medoid_silhouette_score with the numbers of rows."
        )


@dataclass(frozen=True)
class _Centers:
    """Prepared centres, the metric that compares rows with them, and which have but one row."""

    metric: Metric
    prepared: Compared
    alone: npt.NDArray[np.bool_]

    @property
    def rows_at_once(self) -> int:
        return max(1, _TILE_NUMBERS // self.prepared.shape[0])


def _centers_of(
    given: LabelledRows, centers: Any, metric: str | RowFunction | Metric, kwds: dict[str, Any]
) -> _Centers:
    """The centres that were given, or the means by one pass."""
    if centers is None:
        _, means, origin = find_means(given)
        centers = means + origin
    else:
        centers = given_centers(given.who, centers, given.n_clusters, given.source.n_cols)
    found = as_metric(metric, centers, who=given.who, **kwds)
    return _Centers(found, found.prepare(centers, "centers"), given.totals() <= 1)


def _add(part: Part, centers: _Centers, sums: Floats) -> None:
    values = np.empty(part.codes.size)
    _fill(part, centers, values)
    sums += part.totals_of(values)


def _fill(part: Part, centers: _Centers, out: Floats) -> None:
    """The silhouettes of some rows by their distances to centres."""
    rows = centers.metric.prepare_tiles(part.rows)
    for some in part.tiles(centers.rows_at_once):
        lengths = centers.metric.lengths(rows[some], centers.prepared, part.n_threads)
        own = part.codes[some]
        here = np.arange(own.size)
        a = lengths[here, own]
        lengths[here, own] = np.inf
        values = _ratio(a, lengths.min(axis=1))
        values[centers.alone[own]] = 0.0
        out[some] = np.where(own >= 0, values, np.nan)


def _ratio(a: Floats, b: Floats) -> Floats:
    """(b - a) / max(a, b), 0 where both are."""
    larger = np.maximum(a, b)
    return np.divide(b - a, larger, out=np.zeros_like(larger), where=larger > 0)


def medoid_silhouette_score(
    X: Any,
    medoids: Any,
    *,
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    n_threads: int | None = None,
    **kwds: Any,
) -> float:
    """The mean of how much nearer rows are to their nearest medoid than to the next.

    Lenssen & Schubert (2022): the mean of 1 - d1 / d2 with the distances to the nearest and the
    second nearest medoid, 0 where both are 0. From 0 to 1. O(n k d), streams over any source. There
    are no labels, so no row is noise: all count, but those of weight 0.

    Parameters
    ----------
    X : rows of any kind, or with ``metric="precomputed"`` distances, (n_rows, n_rows)
    medoids : array of shape (n_clusters,) or (n_clusters, n_features)
        Numbers of rows, such as `KMedoids.medoid_indices_`, or the medoids themselves.
    metric, sample_weight, n_threads, **kwds
        See `silhouette_samples`.
    """
    who = "medoid_silhouette_score"
    if isinstance(metric, str) and metric == "precomputed":
        square = given_square(who, X, _count_rows(X))
        lengths = square[:, _row_numbers(who, medoids, square.shape[0])]
        lengths = np.asarray(lengths.toarray() if sp.issparse(lengths) else lengths, np.float64)
        return weighted_mean(_nearer(lengths), check_weights(who, sample_weight, lengths.shape[0]))
    n_rows = _count_rows(X)
    given, (by, params) = open_compared(
        who, X, np.zeros(n_rows, dtype=np.int8), metric, kwds, sample_weight, "cluster", n_threads,
        at_least=1,
    )  # fmt: skip
    if np.ndim(medoids) == 1 or metric == "gower":
        centers = given.source.take(_row_numbers(who, medoids, n_rows))
    else:
        centers = np.asarray(checked(who, medoids, "medoids", dtype=np.float64))
        if centers.shape[1] != given.source.n_cols:
            raise ValueError(
                f"{who}: medoids has {centers.shape[1]} columns and X has {given.source.n_cols}; "
                "pass rows like those of X, or their numbers."
            )
    if centers.shape[0] < 2:
        raise ValueError(f"{who}: medoids has {centers.shape[0]} entry; pass two medoids or more.")
    found = as_metric(by, centers, who=who, **params)
    made = _Centers(found, found.prepare(centers, "medoids"), np.zeros(0, dtype=bool))
    total, weight = given.summed(_add_nearer, made, shape=(2,))
    return float(total / weight)


def _add_nearer(part: Part, medoids: _Centers, sums: Floats) -> None:
    rows, values = medoids.metric.prepare_tiles(part.rows), np.empty(part.codes.size)
    for some in part.tiles(medoids.rows_at_once):
        lengths = medoids.metric.lengths(rows[some], medoids.prepared, part.n_threads)
        values[some] = _nearer(lengths)
    sums += part.totals_of(values)


def _nearer(lengths: Floats) -> Floats:
    """1 - d1 / d2 of every row."""
    two = np.partition(lengths, 1, axis=1)
    return _ratio(two[:, 0], two[:, 1])


def _row_numbers(who: str, medoids: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Two or more numbers of rows."""
    found = np.asarray(medoids)
    whole = found.ndim == 1 and found.dtype.kind in "iu" and found.size >= 2
    if not whole or found.min() < 0 or found.max() >= n_rows:
        raise ValueError(
            f"{who}: medoids must be two or more numbers of rows from 0 to {n_rows - 1}, and "
            f"{str(medoids)[:60]} was given."
        )
    return found.astype(np.int64)


def _count_rows(X: Any) -> int:
    """How many rows there are."""
    named = elsewhere(X)
    return int(named.n_rows if named is not None else np.shape(X)[0])
