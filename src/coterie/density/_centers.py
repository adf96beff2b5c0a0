"""Centres of clusters whose rows belong to them more or less strongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.density._select import Membership
from coterie.distance import Metric

Floats = npt.NDArray[np.float64]

_TILE = 256


def centroids(rows: npt.NDArray[Any], members: Membership, n_clusters: int) -> Floats:
    """The mean of each cluster's rows, weighted by their probabilities."""
    means = np.empty((n_clusters, rows.shape[1]))
    for label in range(n_clusters):
        inside = members.labels == label
        values = rows[inside].astype(np.float64)
        # In smaller units where sums are beyond all numbers; the mean is not.
        unit = 1.0 if np.abs(values).max() < 2.0**900 else 2.0**124
        weights = members.probabilities[inside]
        means[label] = np.average(values / unit, axis=0, weights=weights) * unit
    return means


def medoids(
    rows: npt.NDArray[Any], members: Membership, n_clusters: int, metric: Metric, n_threads: int
) -> Floats:
    """The row of each cluster with the least weighted distance to the others; ties: the first.

    Time O(m^2) for m rows of a cluster, a tile of distances at a time.
    """
    found = np.empty((n_clusters, rows.shape[1]))
    for label in range(n_clusters):
        inside = np.flatnonzero(members.labels == label)
        prepared = metric.prepare(rows[inside])
        with np.errstate(over="ignore", invalid="ignore"):
            costs = [
                metric.lengths(prepared[start : start + _TILE], prepared, n_threads)
                @ members.probabilities[inside]
                for start in range(0, inside.size, _TILE)
            ]
        # None times infinity is NaN, which is not the least.
        found[label] = rows[inside[np.nan_to_num(np.concatenate(costs), nan=np.inf).argmin()]]
    return found
