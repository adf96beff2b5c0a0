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
from coterie.select._problem import Measured, Problem, largest, smallest


def by_silhouette(problem: Problem) -> Measured:
    """The mean silhouette (Rousseeuw 1987), under the metric of the estimator."""
    options: dict[str, Any] = {"metric": getattr(problem.estimator, "metric", "euclidean")}
    params = getattr(problem.estimator, "metric_params", None) or {}
    if problem.settings.sample_size is not None:
        size = min(problem.settings.sample_size, problem.n_rows)
        # The same rows at every k, so that the curve does not jump with the draw.
        options |= {"sample_size": size, "random_state": problem.draws("silhouette").randint(2**31)}
    values = _scores(problem, partial(silhouette_score, **options, **params))
    return largest(problem, values, "mean silhouette")


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
        labels = problem.fits.labels(k)
        kept = labels[labels >= 0]
        if not 2 <= len(distinct(kept)) < len(kept):
            return np.nan
        return float(score(problem.X, labels, noise="drop"))

    return problem.each(at)
