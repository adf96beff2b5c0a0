"""DBSCAN under any metric: a slab of the distances at a time, none kept.

Three sweeps: weigh the neighbourhoods, join core rows, look for the core rows near border rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from coterie._labels import NOISE, number_by_first
from coterie.density._lookup import SLAB_ENTRIES, label_by_distances
from coterie.density._rule import Clustering, DensityRule, Labels

#: Distances between some rows and others, (n_rows, n_others).
Distances = Callable[[Any, Any], npt.NDArray[np.float64]]


def cluster_by_distances(distances: Distances, rows: Any, rule: DensityRule) -> Clustering:
    """Cluster rows by the rule; O(n^2) distances, up to three times each."""
    core = _find_core(rows, distances, rule)
    core_ids = np.flatnonzero(core)
    core_rows = rows[core_ids]
    component, n_clusters = _join(core_rows, distances, rule.eps)
    labels = np.full(rows.shape[0], NOISE, dtype=np.int64)
    labels[core_ids] = number_by_first(component)
    if rule.border != "noise" and core_ids.size:
        border_ids = np.flatnonzero(~core)
        labels[border_ids] = label_rows(
            core_rows, labels[core_ids], rows[border_ids], distances, rule
        )
    return Clustering(labels, core, n_clusters)


def label_rows(
    core_rows: Any, core_labels: Labels, rows: Any, distances: Distances, rule: DensityRule
) -> Labels:
    """The cluster each row joins, given the core rows; -1 for none."""
    labels = np.empty(rows.shape[0], dtype=np.int64)
    for part, slab in _slabs(rows, core_rows, distances):
        labels[part] = label_by_distances(slab, core_labels, rule)
    return labels


def _slabs(
    rows: Any, others: Any, distances: Distances
) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    step = max(1, SLAB_ENTRIES // max(1, others.shape[0]))
    for start in range(0, rows.shape[0], step):
        part = slice(start, start + step)
        yield part, distances(rows[part], others)


def _find_core(rows: Any, distances: Distances, rule: DensityRule) -> npt.NDArray[np.bool_]:
    core = np.empty(rows.shape[0], dtype=np.bool_)
    for part, slab in _slabs(rows, rows, distances):
        within = slab <= rule.eps
        if rule.weights is None:
            weight = np.count_nonzero(within, axis=1)
        else:
            with np.errstate(over="ignore"):  # a weight beyond all numbers is enough
                weight = within @ rule.weights
        core[part] = weight >= rule.min_samples
    return core


def _join(core_rows: Any, distances: Distances, eps: float) -> tuple[npt.NDArray[Any], int]:
    """Components of the core rows: of each slab's pairs joined with what is known so far."""
    n = core_rows.shape[0]
    component, n_components = np.arange(n), n
    for part, slab in _slabs(core_rows, core_rows, distances):
        i, j = np.nonzero(slab <= eps)
        ends = component[i + part.start], component[j]
        pairs = coo_matrix((np.ones(i.size, dtype=bool), ends), shape=(n_components, n_components))
        n_components, joined = connected_components(pairs, directed=False)
        component = joined[component]
    return component, n_components
