"""Criteria that score the labels at each k by the rows: silhouette and its kin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from coterie._distinct import distinct
from coterie.evaluate import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)
from coterie.evaluate._silhouette import silhouette_scores
from coterie.select._problem import Measured, Problem, largest, smallest

_MEAN = "mean silhouette"


def by_silhouette(problem: Problem) -> Measured:
    """The mean silhouette (Rousseeuw 1987), under the metric of the estimator."""
    options: dict[str, Any] = {"metric": getattr(problem.estimator, "metric", "euclidean")}
    options |= getattr(problem.estimator, "metric_params", None) or {}
    if problem.settings.sample_size is not None:
        size = min(problem.settings.sample_size, problem.n_rows)
        # The same rows at every k, so that the curve does not jump with the draw.
        options |= {"sample_size": size, "random_state": problem.draws("silhouette").randint(2**31)}
        chosen = partial(_of_sample, **options)
        return largest(problem, _scores(problem, chosen), _MEAN)
    values, ks = np.full(len(problem.ks), np.nan), [k for k in problem.ks if _has_score(problem, k)]
    labelings = [problem.fits.labels(k) for k in ks]
    found = silhouette_scores(problem.X, labelings, noise="drop", **options)
    values[np.searchsorted(problem.ks, ks)] = found
    return largest(problem, values, _MEAN)


def _of_sample(X: Any, labels: Any, **options: Any) -> float:
    """The silhouette of sampled rows; NaN where they are of one cluster, or each of its own."""
    try:
        return silhouette_score(X, labels, **options)
    except ValueError as error:
        if "Number of labels is" not in str(error):
            raise
        return np.nan


def by_calinski_harabasz(problem: Problem) -> Measured:
    """The variance ratio (Calinski & Harabasz 1974): scatter between over scatter within."""
    return largest(problem, _scores(problem, calinski_harabasz_score), "variance ratio")


def by_davies_bouldin(problem: Problem) -> Measured:
    """The mean likeness of each cluster and its nearest rival (Davies & Bouldin 1979)."""
    values = _scores(problem, davies_bouldin_score)
    return smallest(problem, values, "Davies-Bouldin index")


def _scores(problem: Problem, score: Callable[..., float]) -> Any:
    """A score at every k; NaN where labels are all alike, or all different."""

    def at(k: int) -> float:
        if not _has_score(problem, k):
            return np.nan
        return float(score(problem.X, problem.fits.labels(k), noise="drop"))

    return problem.each(at)


def _has_score(problem: Problem, k: int) -> bool:
    """Whether labels are neither all alike nor all different."""
    labels = problem.fits.labels(k)
    kept = labels[labels >= 0]
    return bool(2 <= len(distinct(kept)) < len(kept))
