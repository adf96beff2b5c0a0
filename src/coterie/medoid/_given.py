"""Medoids to start from that the caller chose: row numbers, or rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.distance import Metric

Ids = npt.NDArray[np.int64]


def given_indices(
    who: str, init: Any, n_clusters: int, n_rows: int, allowed: npt.NDArray[np.bool_] | None
) -> Ids:
    """Row numbers as they were given, each once."""
    ids = np.asarray(init)
    if ids.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: init has one dimension and entries of type {ids.dtype}; pass {n_clusters} row "
            "numbers, or rows as a table."
        )
    if ids.shape != (n_clusters,):
        raise ValueError(
            f"{who}: init has {ids.size} row numbers and n_clusters={n_clusters}; pass one a "
            "cluster."
        )
    if ids.min() < 0 or ids.max() >= n_rows:
        raise ValueError(
            f"{who}: init names row {ids.min() if ids.min() < 0 else ids.max()} and X has {n_rows} "
            f"rows; pass numbers from 0 to {n_rows - 1}."
        )
    if distinct(ids).size < ids.size:
        raise ValueError(f"{who}: init names a row twice; pass {n_clusters} different rows.")
    if allowed is not None and not allowed[ids].all():
        raise ValueError(
            f"{who}: init names row {int(ids[~allowed[ids]][0])}, whose sample_weight is zero; "
            "pass rows that count."
        )
    return ids.astype(np.int64)


def nearest_to_given(
    who: str,
    init: Any,
    n_clusters: int,
    metric: Metric,
    rows: npt.NDArray[Any],
    allowed: npt.NDArray[np.bool_] | None,
    n_threads: int,
) -> Ids:
    """For each given row the nearest prepared one that is not taken yet."""
    given = metric.prepare(init, "init")
    if given.shape != (n_clusters, rows.shape[1]):
        raise ValueError(
            f"{who}: init has shape {np.shape(init)}, and n_clusters={n_clusters} rows like those "
            "of X were expected; pass these, or row numbers."
        )
    free = np.ones(rows.shape[0], dtype=bool) if allowed is None else allowed.copy()
    medoids = np.empty(n_clusters, dtype=np.int64)
    for slot in range(n_clusters):
        one = given[slot : slot + 1].astype(rows.dtype, copy=False)
        lengths = metric.lengths(one, rows, n_threads)[0]
        medoids[slot] = np.argmin(np.where(free, lengths, np.inf))
        free[medoids[slot]] = False
    return medoids
