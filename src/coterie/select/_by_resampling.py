"""Criteria that ask whether the clusters would come back: prediction strength and stability."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.evaluate import adjusted_rand_score, contingency_matrix
from coterie.select._fits import Fits
from coterie.select._problem import Measured, Problem, take

Floats = npt.NDArray[np.float64]

#: From here on clusters count as found again: Tibshirani & Walther's bar.
STRONG = 0.8


def by_prediction_strength(problem: Problem) -> Measured:
    """Tibshirani & Walther (2005): are rows that are together also predicted to be together?

    One half of the rows is clustered, and so is the other; the strength is the share of pairs of a
    cluster of the one half that the clusters of the other also put together, in the cluster where
    it is least; 0 where a half has not so many clusters. Chosen is the largest k whose strength,
    plus a standard error over the splits, reaches 0.8. It can say 1, whose strength is 1.
    """
    rng, n_rows = problem.draws("prediction_strength"), problem.n_rows
    if n_rows < 4:  # halves with one row, that many estimators refuse: one cluster is all there is
        values = problem.each(lambda k: float(k == 1))
        pick = 1 if 1 in problem.ks else None
        return Measured(values, pick, f"{n_rows} rows are too few to halve", 0 * values)
    found: list[list[float]] = []
    for _ in range(max(1, problem.settings.n_resamples // 2)):
        order = rng.permutation(n_rows)
        halves = [take(problem.X, np.sort(part)) for part in np.array_split(order, 2)]
        ks = tuple(k for k in problem.ks if k <= n_rows // 2)
        fits = [problem.fits_on(half, rng, ks) for half in halves]
        for one, other in ((0, 1), (1, 0)):
            found.append([
                _strength_at(k, fits[one], fits[other], halves[one]) for k in problem.ks
            ])  # fmt: skip
    table = np.array(found)
    values = table.mean(axis=0)
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    reached = np.flatnonzero(values + errors >= STRONG)
    if not reached.size:
        return Measured(values, None, "no number of clusters would be found again", errors)
    k = problem.ks[int(reached[-1])]
    return Measured(values, k, f"k = {k} is the largest that would be found again", errors)


def _strength_at(k: int, own: Fits, others: Fits, rows: Any) -> float:
    """The strength of k clusters of some rows; 0 where there are not so many of them."""
    if k not in own.ks:
        return 0.0
    labels = own.labels(k)
    if len(distinct(labels[labels >= 0])) < k:
        return 0.0
    return strength(labels, others.assign(k, rows))


def strength(labels: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """The least share, over clusters, of pairs of rows that are predicted to be together."""
    kept = labels >= 0
    together = np.asarray(contingency_matrix(labels[kept], predicted[kept]), dtype=np.float64)
    sizes = together.sum(axis=1)
    pairs = sizes * (sizes - 1)
    shared = (together * (together - 1)).sum(axis=1)
    return float(np.where(pairs > 0, shared / np.maximum(pairs, 1), 1.0).min())


def by_stability(problem: Problem) -> Measured:
    """Do clusters of resampled rows agree? (Fang & Wang 2012, adjusted for chance)

    Two bootstrap samples are clustered and both label all rows; the value is their adjusted Rand
    index, its mean over such pairs. Without the adjustment agreement rises with k by itself. Chosen
    is the largest k that falls short of the best by no more than a standard error. It cannot say 1,
    which always agrees.
    """
    rng, n_rows = problem.draws("stability"), problem.n_rows
    ks = [k for k in problem.ks if k > 1]
    table = np.full((problem.settings.n_resamples, len(problem.ks)), np.nan)
    for draw in range(problem.settings.n_resamples):
        samples = [take(problem.X, np.sort(rng.randint(n_rows, size=n_rows))) for _ in range(2)]
        one, other = (problem.fits_on(sample, rng) for sample in samples)
        for k in ks:
            agreement = adjusted_rand_score(one.assign(k, problem.X), other.assign(k, problem.X))
            table[draw, problem.ks.index(k)] = agreement
    values = table.mean(axis=0)
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    if not ks:
        return Measured(values, None, "it needs two clusters or more", errors)
    best = int(np.nanargmax(values))
    k = problem.ks[int(np.flatnonzero(values >= values[best] - errors[best])[-1])]
    return Measured(values, k, f"k = {k} is the largest that agrees best", errors)
