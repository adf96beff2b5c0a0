"""Exact silhouettes under any metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import NONE, check_params, whole
from coterie._doors import check_weights
from coterie._kernels import kernels
from coterie._random import check_random_state
from coterie.data import elsewhere
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
from coterie.evaluate._rows import LabelledRows, open_rows
from coterie.evaluate._squares import QUICK, mean_by_squares, silhouettes_by_squares

Floats = npt.NDArray[np.float64]

#: Float32 rows within these bounds have squares that neither overflow nor vanish.
_FLOAT32_SQUARES = 1e-15, 1e15


def silhouette_samples(
    X: Any,
    labels: Any,
    *,
    metric: str | RowFunction = "euclidean",
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> Floats:
    """Tell of every row how much nearer its own cluster is than the next.

    Rousseeuw (1987): s = (b - a) / max(a, b), with a the mean distance to the other rows of the own
    cluster and b the least mean distance to the rows of another; 0 in a cluster of one row. Time
    O(n^2 d) in all threads, memory one copy of the rows and some numbers per row; nothing of n x n.
    Squared Euclidean, cosine and correlation distances need O(n k d) only, and stream over any
    source. Float32 rows under Euclid's metric are measured in float32 (some 1e-7), all else in
    float64.

    Parameters
    ----------
    X : array, data frame or CSR matrix of shape (n_rows, n_features), path, Dask collection or
        source; with ``metric="precomputed"`` distances, dense or CSR, (n_rows, n_rows)
    labels, sample_weight, noise, n_threads
        See `scatter_matrices`. A weight counts a row so many times, so a row of weight 2 has itself
        as a neighbour.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`, a function of two rows, or ``"precomputed"``. Under
        ``"gower"`` X is a table of numbers and categories, with missing cells.
    **kwds
        Parameters of the metric; see `coterie.distance.as_metric`.

    Returns
    -------
    float64 array of shape (n_rows,)
        From -1 to 1; NaN for rows that are left out.

    Examples
    --------
    >>> from coterie.evaluate import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [5.0]], [0, 0, 1]).tolist()
    [0.8, 0.75, 0.0]
    """
    who = "silhouette_samples"
    if isinstance(metric, str) and metric == "precomputed":
        return _of_square(*opened_square(who, X, labels, sample_weight, noise))
    given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
    if isinstance(metric, str) and metric in QUICK:
        return silhouettes_by_squares(given, as_metric(metric, who=who, **kwds))
    return _of_rows(given, *asked)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: str | RowFunction = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> float:
    """The mean of all `silhouette_samples`; from -1 to 1, larger is better.

    Parameters
    ----------
    sample_size : int or None, default=None
        Score so many rows by themselves, as scikit-learn does; `sampled_silhouette_score` compares
        sampled rows with all, and gives an interval.
    random_state : int, RandomState or None, default=None
        For the sample.
    X, labels, metric, sample_weight, noise, n_threads, **kwds
        See `silhouette_samples`.
    """
    who = "silhouette_score"
    check_params(who, {"sample_size": sample_size}, {"sample_size": NONE | whole(1)})
    if sample_size is not None:
        labels = as_labels(who, labels, "labels")
        n_labels = labels.size
        chosen = check_random_state(random_state).permutation(n_labels)[:sample_size]
        X, labels = _rows_at(X, chosen, square=metric == "precomputed"), labels[chosen]
        weights = check_weights(who, sample_weight, n_labels)
        sample_weight = None if weights is None else weights[chosen]
    if isinstance(metric, str) and metric == "precomputed":
        given, square = opened_square(who, X, labels, sample_weight, noise)
        return weighted_mean(_of_square(given, square), given.weights)
    given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
    if isinstance(metric, str) and metric in QUICK:
        return mean_by_squares(given, as_metric(metric, who=who, **kwds))
    return weighted_mean(_of_rows(given, *asked), given.weights)


def silhouette_scores(
    X: Any,
    labelings: Sequence[Any],
    *,
    metric: str | RowFunction = "euclidean",
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> list[float]:
    """`silhouette_score` of several labelings of the same rows, the same to the last bit.

    Distances that a function of two rows makes are asked for once, a tile at a time, and added into
    the sums of all labelings; distances that were given are checked once. Those of a kernel are
    measured again for each: that takes no longer than to gather them in the order of its clusters.
    """
    who = "silhouette_score"
    if isinstance(metric, str) and metric == "precomputed":
        opened = [_opened_labels(who, labels, None, noise) for labels in labelings]
        square = given_square(who, X, opened[0].codes.size) if opened else None
        return [weighted_mean(_of_square(given, square), None) for given in opened]
    if isinstance(metric, str):
        options = {"metric": metric, "noise": noise, "n_threads": n_threads, **kwds}
        return [silhouette_score(X, labels, **options) for labels in labelings]
    opened = [open_rows(who, X, labels, None, noise, n_threads) for labels in labelings]
    return [weighted_mean(values, None) for values in _of_function(opened, metric, kwds)]


def _of_function(
    opened: Sequence[LabelledRows], metric: RowFunction, kwds: dict[str, Any]
) -> list[Floats]:
    """Silhouettes of several labelings by distances that are asked for once."""
    if not opened:
        return []
    first = opened[0]
    rows = first.whole()
    found = as_metric(metric, rows, who=first.who, **kwds)
    rows = found.prepare(rows)
    every = np.arange(len(rows))
    all_rows = Runs(every, np.array([0, every.size]), np.ones(1), None)
    runs = [by_cluster(given) for given in opened]
    places = [np.argsort(own.order) for own in runs]  # of the kept rows, in the order given
    parts = [(np.empty(own.n_rows), np.empty(own.n_rows)) for own in runs]
    for some, lengths in tiles(
        all_rows, measured(first.who, rows, all_rows, found, first.n_threads)
    ):
        for given, own, place, (within, nearest) in zip(opened, runs, places, parts, strict=True):
            kept = given.codes[some] >= 0
            start = int(np.count_nonzero(given.codes[: some.start] >= 0))
            here = place[start : start + np.count_nonzero(kept)]
            by_run = np.take(lengths[kept], own.order, axis=1)
            within[here], nearest[here] = _fold(own, by_run, own.clusters[here])
    return [
        _published(given, own, *part) for given, own, part in zip(opened, runs, parts, strict=True)
    ]


def _rows_at(X: Any, chosen: npt.NDArray[Any], *, square: bool) -> Any:
    """Some rows, or the distances between them."""
    named = elsewhere(X)
    if named is not None:
        return named.pick(chosen)
    if hasattr(X, "iloc"):
        return X.iloc[chosen, chosen] if square else X.iloc[chosen]
    if hasattr(X, "take") and hasattr(X, "select"):  # a table of Arrow
        return X.take(chosen).select(chosen.tolist()) if square else X.take(chosen)
    rows = X.tocsr() if sp.issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
    return rows[chosen][:, chosen] if square else rows[chosen]


def weighted_mean(values: Floats, weights: Floats | None) -> float:
    """The mean over the rows that are not left out."""
    kept = ~np.isnan(values)
    if weights is None:
        return float(values[kept].mean())
    return float((weights[kept] * values[kept]).sum() / weights[kept].sum())


def opened_square(
    who: str, X: Any, labels: Any, sample_weight: Any, noise: Noise
) -> tuple[LabelledRows, Any]:
    """Labels, and distances that were given."""
    square = given_square(who, X, as_labels(who, labels, "labels").size)
    return _opened_labels(who, labels, sample_weight, noise), square


def _opened_labels(who: str, labels: Any, sample_weight: Any, noise: Noise) -> LabelledRows:
    """Labels of rows that are not known themselves."""
    placeholder = np.zeros((as_labels(who, labels, "labels").size, 1))
    return open_rows(who, placeholder, labels, sample_weight, noise)


def _of_square(given: LabelledRows, square: Any) -> Floats:
    """Silhouettes by distances that were given."""
    runs = by_cluster(given)
    return _published(given, runs, *_reduced(runs, looked_up(square, runs)))


def _of_rows(
    given: LabelledRows, metric: str | RowFunction | Metric, kwds: dict[str, Any]
) -> Floats:
    """Silhouettes by all rows: a kernel's, or a function's where the metric is one."""
    rows = given.whole()
    found = as_metric(metric, rows, who=given.who, **kwds)
    return _of_prepared(given, found.prepare(rows), found)


def _of_prepared(given: LabelledRows, rows: npt.NDArray[Any], metric: Metric) -> Floats:
    """Silhouettes by prepared rows."""
    runs = by_cluster(given)
    if metric.native is None:
        measure = measured(given.who, rows, runs, metric, given.n_threads)
        return _published(given, runs, *_reduced(runs, measure))
    if rows.dtype == np.float32 and not _squares_fit(rows):
        rows = rows.astype(np.float64)
    within, nearest = np.empty(runs.n_rows), np.empty(runs.n_rows)
    kernels.silhouette_parts(
        rows, runs.order, runs.starts, runs.totals, runs.weights, metric.native, within, nearest,
        given.n_threads,
    )  # fmt: skip
    metric.check_lengths(within, given.who)
    return _published(given, runs, within, nearest)


def _squares_fit(rows: npt.NDArray[Any]) -> bool:
    """Whether squares of float32 rows can be taken in float32."""
    largest = max(abs(float(rows.min())), abs(float(rows.max())))
    least, most = _FLOAT32_SQUARES
    return largest == 0 or least < largest < most


def _reduced(runs: Runs, measure: Measure) -> tuple[Floats, Floats]:
    """Sums of distances within the own cluster, and the least mean to another."""
    within, nearest = np.empty(runs.n_rows), np.empty(runs.n_rows)
    clusters = runs.clusters
    for some, lengths in tiles(runs, measure):
        within[some], nearest[some] = _fold(runs, lengths, clusters[some])
    return within, nearest


def _fold(runs: Runs, lengths: Floats, own: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """The same of a tile: distances of rows of the clusters `own` to all rows in their order."""
    if runs.weights is not None:
        lengths = lengths * runs.weights
    sums = np.add.reduceat(lengths, runs.starts[:-1], axis=1)
    here = np.arange(sums.shape[0])
    means = sums / runs.totals
    means[here, own] = np.inf
    return sums[here, own], means.min(axis=1)


def _published(given: LabelledRows, runs: Runs, within: Floats, nearest: Floats) -> Floats:
    """(b - a) / max(a, b) for every row as it was given; 0 where a row is alone."""
    others = runs.totals[runs.clusters] - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = within / others
        values = (nearest - inner) / np.maximum(inner, nearest)
    values[(others <= 0) | np.isnan(values)] = 0.0
    out = np.full(given.codes.size, np.nan)
    out[runs.order] = values
    return out
