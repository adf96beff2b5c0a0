"""Medoids to start from that the caller chose: row numbers, or rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.data import Block, Source
from coterie.distance import Metric
from coterie.medoid._nearest import KnownMedoids

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


@dataclass(frozen=True)
class NearGiven:
    """For each given row the nearest rows so far, as many as rows were given.

    By distance, then by row; of `a + b` the rows of a come first.
    """

    lengths: npt.NDArray[np.float64]
    ids: Ids

    def __add__(self, other: NearGiven) -> NearGiven:
        lengths = np.concatenate([self.lengths, other.lengths], axis=1)
        ids = np.concatenate([self.ids, other.ids], axis=1)
        order = np.argsort(lengths, axis=1, kind="stable")[:, : len(lengths)]
        take = np.take_along_axis
        return NearGiven(take(lengths, order, axis=1), take(ids, order, axis=1))


def find_near_given(block: Block, known: KnownMedoids) -> NearGiven:
    """The rows of a block that count and are nearest to each of the known ones."""
    n_given = known.prepared.shape[0]
    found = NearGiven(np.empty((n_given, 0)), np.empty((n_given, 0), dtype=np.int64))
    rows = known.metric.prepare_tiles(block.rows)
    for part, lengths in known.distances(rows, block.n_threads):
        if block.weights is not None:
            lengths[block.weights[part] == 0] = np.inf
        kth = min(n_given, lengths.shape[0])
        limits = np.partition(lengths, kth - 1, axis=0)[kth - 1]
        near, ids = np.full((n_given, kth), np.inf), np.zeros((n_given, kth), dtype=np.int64)
        for slot in range(n_given):
            within = np.flatnonzero(lengths[:, slot] <= limits[slot])
            order = within[np.argsort(lengths[within, slot], kind="stable")][:kth]
            near[slot, : order.size] = lengths[order, slot]
            ids[slot, : order.size] = block.start + part.start + order
        found = found + NearGiven(near, ids)
    return found


def nearest_to_given(
    who: str, init: Any, n_clusters: int, metric: Metric, blocks: Source, like: npt.NDArray[Any]
) -> Ids:
    """For each given row the nearest row with weight that is not taken yet, in one pass.

    `like` are rows as they are compared; blocks are so already, or the metric makes them so.
    """
    given = metric.prepare(init, "init")
    if given.shape != (n_clusters, like.shape[1]):
        raise ValueError(
            f"{who}: init has shape {np.shape(init)}, and n_clusters={n_clusters} rows like those "
            "of X were expected; pass these, or row numbers."
        )
    metric = metric.of_prepared() if blocks.in_memory else metric
    known = KnownMedoids(metric, given.astype(like.dtype, copy=False))
    found = blocks.total(find_near_given, known)
    taken: list[int] = []
    for ids in found.ids.tolist():
        taken.append(next(row for row in ids if row not in taken))
    return np.array(taken, dtype=np.int64)
