"""The silhouette of many rows by those of a few, with what that leaves unknown."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student_t

from coterie._checks import check_params, real, whole
from coterie._random import check_random_state
from coterie.distance import Metric, RowFunction, as_metric
from coterie.evaluate._coded import Noise
from coterie.evaluate._compared import open_compared
from coterie.evaluate._lengths_by_cluster import by_cluster, looked_up
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import LabelledRows
from coterie.evaluate._silhouette import opened_square

Floats = npt.NDArray[np.float64]

#: Distances that are looked at together: 16 MB.
_TILE_NUMBERS = 1 << 21


class SampledSilhouette(NamedTuple):
    """What `sampled_silhouette_score` found: the estimate and its confidence interval."""

    score: float
    low: float
    high: float
    standard_error: float
    n_sampled: int


def sampled_silhouette_score(
    X: Any,
    labels: Any,
    *,
    sample_size: int = 1000,
    confidence: float = 0.95,
    metric: str | RowFunction = "euclidean",
    random_state: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
    **kwds: Any,
) -> SampledSilhouette:
    """Estimate the mean silhouette from some rows, each compared with all rows.

    Every sampled row has its exact silhouette, so the estimate has no bias; scikit-learn's
    `sample_size` compares sampled rows among themselves, which has. The interval is Student's with
    the correction for drawing without replacement; with weights, rows are drawn by their weight
    with replacement. One pass over any source after the draw: O(m n d) time for a sample of m,
    memory m k numbers.

    Parameters
    ----------
    sample_size : int, default=1000
        Rows to draw, at least two; all where there are no more.
    confidence : float, default=0.95
        How often such intervals hold the exact score.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    X, labels, metric, sample_weight, noise, n_threads, **kwds
        See `silhouette_samples`.

    Returns
    -------
    SampledSilhouette
        `score`, `low`, `high`, `standard_error` and `n_sampled`.
    """
    who = "sampled_silhouette_score"
    check_params(
        who,
        {"sample_size": sample_size, "confidence": confidence},
        {"sample_size": whole(2), "confidence": real(0, 1)},
    )
    rng = check_random_state(random_state)
    if isinstance(metric, str) and metric == "precomputed":
        given, square = opened_square(who, X, labels, sample_weight, noise)
        drawn, correction = _draw(given, sample_size, rng)
        sums = _sums_looked_up(given, square, drawn)
    else:
        given, asked = open_compared(who, X, labels, metric, kwds, sample_weight, noise, n_threads)
        drawn, correction = _draw(given, sample_size, rng)
        sums = _sums_measured(given, drawn, *asked)
    values = _silhouettes(given, sums, given.codes[drawn])
    score = float(values.mean())
    error = math.sqrt(max(0.0, correction) * float(values.var(ddof=1)) / values.size)
    margin = float(student_t.ppf((1 + confidence) / 2, values.size - 1)) * error if error else 0.0
    return SampledSilhouette(
        score, max(-1.0, score - margin), min(1.0, score + margin), error, values.size
    )


def _draw(
    given: LabelledRows, size: int, rng: np.random.RandomState
) -> tuple[npt.NDArray[np.int64], float]:
    """Rows of the sample, and the share of the variance that drawing so leaves."""
    kept = np.flatnonzero(given.codes >= 0)
    if given.weights is not None:
        shares = given.weights[kept] / given.weights[kept].sum()
        return kept[rng.choice(kept.size, size=size, p=shares)], 1.0
    if size >= kept.size:
        return kept, 0.0
    return np.sort(rng.permutation(kept)[:size]), 1 - size / kept.size


def _sums_looked_up(given: LabelledRows, square: Any, drawn: npt.NDArray[np.int64]) -> Floats:
    """Summed distances of the sample to the rows of each cluster, which were given."""
    runs = by_cluster(given)
    place_of = np.empty(given.codes.size, dtype=np.int64)
    place_of[runs.order] = np.arange(runs.n_rows)
    measure, places = looked_up(square, runs), place_of[drawn]
    sums = np.empty((drawn.size, given.n_clusters))
    step = max(1, _TILE_NUMBERS // runs.n_rows)
    for start in range(0, drawn.size, step):
        lengths = measure(places[start : start + step])
        if runs.weights is not None:
            lengths = lengths * runs.weights
        sums[start : start + step] = np.add.reduceat(lengths, runs.starts[:-1], axis=1)
    return sums


def _sums_measured(
    given: LabelledRows,
    drawn: npt.NDArray[np.int64],
    metric: str | RowFunction | Metric,
    params: dict[str, Any],
) -> Floats:
    """The same sums by one pass over all rows."""
    rows = given.source.pick(drawn).rows
    found = as_metric(metric, rows, who=given.who, **params)
    shape = drawn.size, given.n_clusters
    sums = given.summed(_add_lengths, found, found.prepare(rows), shape=shape)
    found.check_lengths(sums, given.who)
    return sums


def _silhouettes(given: LabelledRows, sums: Floats, own: npt.NDArray[np.int32]) -> Floats:
    """Exact silhouettes of rows of the clusters `own`, by their distances to all clusters."""
    totals, here = given.totals(), np.arange(own.size)
    others = totals[own] - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        a = sums[here, own] / others
        means = sums / totals
        means[here, own] = np.inf
        b = means.min(axis=1)
        values = (b - a) / np.maximum(a, b)
    values[(others <= 0) | np.isnan(values)] = 0.0
    return values


def _add_lengths(part: Part, metric: Metric, sample: npt.NDArray[Any], sums: Floats) -> None:
    """Distances of the sample to the rows of each cluster."""
    order = np.argsort(part.codes, kind="stable")
    order = order[np.searchsorted(part.codes[order], 0) :]
    rows, step = metric.prepare(part.rows), max(1, _TILE_NUMBERS // sample.shape[0])
    for start in range(0, order.size, step):
        some = order[start : start + step]
        lengths = metric.lengths(sample, rows[some], part.n_threads)
        if part.weights is not None:
            lengths *= part.weights[some]
        codes = part.codes[some]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        sums[:, codes[starts]] += np.add.reduceat(lengths, starts, axis=1)
