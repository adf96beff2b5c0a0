"""The score of Davies and Bouldin."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.distance import as_metric
from coterie.evaluate._coded import Noise
from coterie.evaluate._rows import open_rows
from coterie.evaluate._spread import Spread, measure_ratios

#: Centres whose distances to all others are looked at together.
_TILE = 256


def davies_bouldin_score(
    X: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
) -> float:
    """Tell how alike clusters are to the one most like them; smaller is better.

    Davies & Bouldin (1979): (1/K) sum_i max_{j != i} (s_i + s_j) / |m_i - m_j|, with s the mean
    distance of a cluster's rows to its mean m. Two passes over any source, O(n d + k^2 d) time and
    O(k d) memory. See `scatter_matrices` for the parameters.

    Returns
    -------
    float
        0 or more. Two clusters with one mean are infinitely alike unless both are points, and
        distances count however small; scikit-learn takes 0 in both cases, its best score.

    Examples
    --------
    >>> from coterie.evaluate import davies_bouldin_score
    >>> davies_bouldin_score([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    0.2222222222222222
    """
    given = open_rows("davies_bouldin_score", X, labels, sample_weight, noise, n_threads)
    return davies_bouldin_of(measure_ratios(given), given.n_threads)


def davies_bouldin_of(spread: Spread, n_threads: int) -> float:
    """The score of clusters with this spread, some of them at a time."""
    reach = spread.length_sums / spread.weights
    euclidean = as_metric("euclidean")
    worst = np.zeros(reach.size)
    for start in range(0, reach.size, _TILE):
        some = slice(start, min(reach.size, start + _TILE))
        apart = euclidean.lengths(spread.means[some], spread.means, n_threads)
        both = reach[some, np.newaxis] + reach
        with np.errstate(divide="ignore", invalid="ignore"):
            alike = np.where(both > 0, both / apart, 0.0)
        here = np.arange(some.start, some.stop)
        alike[here - start, here] = 0.0
        worst[some] = alike.max(axis=1)
    return float(worst.mean())
