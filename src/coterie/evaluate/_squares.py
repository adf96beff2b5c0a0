"""Silhouettes by squared distances, whose means follow from the means of the clusters.

The mean of |x - y|^2 over the rows y of a cluster is |x - m|^2 + SSE / W, so no pair of rows is
looked at. Cosine and correlation distances are half the squared distance of unit rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from coterie.distance import Metric, as_metric
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import LabelledRows
from coterie.evaluate._spread import Spread, measure_spread

Floats = npt.NDArray[np.float64]

#: Metrics whose silhouettes need the means of clusters only.
QUICK = ("sqeuclidean", "cosine", "correlation")

#: Distances to centres that are looked at together: 8 MB.
_TILE_NUMBERS = 1 << 20


def silhouettes_by_squares(given: LabelledRows, metric: Metric) -> Floats:
    """Silhouettes under a metric of `QUICK`: three passes over any source, O(n k d)."""
    given = _in_form(given, metric)
    return given.filled(_fill, measure_spread(given))


def mean_by_squares(given: LabelledRows, metric: Metric) -> float:
    """The mean of these, of which no more than a part's is kept."""
    given = _in_form(given, metric)
    total, weight = given.summed(_add, measure_spread(given), shape=(2,))
    return float(total / weight)


def _in_form(given: LabelledRows, metric: Metric) -> LabelledRows:
    """Rows whose squared distances are those of the metric, but for a factor.

    Half of them are cosine distances; that does not change a ratio.
    """
    return given if metric.name == "sqeuclidean" else replace(given, prepare=metric.prepare)


def _add(part: Part, spread: Spread, sums: Floats) -> None:
    values = np.empty(part.codes.size)
    _fill(part, spread, values)
    sums += part.totals_of(values)


def _fill(part: Part, spread: Spread, out: Floats) -> None:
    """The silhouettes of some rows; NaN for those that are left out."""
    squared = as_metric("sqeuclidean")
    centers, inner = spread.centers, spread.sq_sums / spread.weights
    for some in part.tiles(max(1, _TILE_NUMBERS // centers.shape[0])):
        own = part.codes[some]
        means = squared.lengths(part.rows[some], centers, part.n_threads) + inner
        here, weights = np.arange(own.size), spread.weights[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            a = means[here, own] * weights / (weights - 1)
            means[here, own] = np.inf
            b = means.min(axis=1)
            values = (b - a) / np.maximum(a, b)
        values[(weights <= 1) | np.isnan(values)] = 0.0
        out[some] = np.where(own >= 0, values, np.nan)
