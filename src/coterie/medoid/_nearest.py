"""Rows and their nearest medoids, in blocks of any source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._fitted import Fitted, label_any
from coterie.data import Block
from coterie.distance import Metric, in_tiles

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

#: Distances that are looked at together: 16 MB.
_TILE_NUMBERS = 1 << 21


@dataclass(frozen=True)
class KnownMedoids:
    """The medoids as they are compared, and their metric."""

    metric: Metric
    prepared: npt.NDArray[Any]
    who: str = "KMedoids"

    def distances(self, rows: Any, n_threads: int) -> Iterator[tuple[slice, Floats]]:
        """Distances of prepared rows to all medoids, some rows at a time."""
        step = max(1, _TILE_NUMBERS // max(1, self.prepared.shape[0]))
        for start in range(0, rows.shape[0], step):
            part = slice(start, min(rows.shape[0], start + step))
            yield part, self.metric.lengths(rows[part], self.prepared, n_threads)


def label_prepared(known: KnownMedoids, rows: Any, n_threads: int, start: int = 0) -> Labels:
    """The nearest medoid of every prepared row; ties go to the lower index.

    Euclid's metric is k-means' work, whose kernel is several times as fast; `start` is the number
    of the first row, for complaints.
    """
    if not known.metric.is_euclidean:
        return nearest_medoids(known, rows, n_threads)[0]
    labels = np.empty(rows.shape[0], dtype=np.int32)
    fitted = Fitted(known.who, known.prepared.astype(np.float64))
    for part, tile in in_tiles(rows):
        label_any(Block(tile, None, start + part.start, n_threads), fitted, labels[part])
    return labels


def nearest_medoids(known: KnownMedoids, rows: Any, n_threads: int) -> tuple[Labels, Floats]:
    """The nearest medoid of every prepared row, and its distance; ties go to the lower index."""
    labels = np.empty(rows.shape[0], dtype=np.int32)
    nearest = np.empty(rows.shape[0])
    for part, lengths in known.distances(rows, n_threads):
        labels[part] = lengths.argmin(axis=1)
        nearest[part] = lengths.min(axis=1)
    return labels, nearest


def total_of(who: str, nearest: Floats, weights: Floats | None) -> float:
    """The weighted sum of some distances; refused where it is beyond all numbers."""
    with np.errstate(over="ignore"):
        total = float(nearest.sum() if weights is None else (weights * nearest).sum())
    check_total(who, total)
    return total


def check_total(who: str, total: float) -> None:
    """Refuse a total deviation beyond all numbers."""
    if not np.isfinite(total):
        raise ValueError(
            f"{who}: the weighted sum of distances overflows float64; divide X or sample_weight by "
            "a constant."
        )


def label_block(block: Block, known: KnownMedoids, labels: Labels) -> None:
    """Fill in the nearest medoid of every row."""
    rows = known.metric.prepare_tiles(block.rows)
    labels[:] = label_prepared(known, rows, block.n_threads, block.start)


def measure_block(block: Block, known: KnownMedoids, dists: npt.NDArray[Any]) -> None:
    """Fill in the distance of every row to every medoid."""
    rows = known.metric.prepare_tiles(block.rows)
    for part, lengths in known.distances(rows, block.n_threads):
        dists[part] = lengths


def deviation_of_block(block: Block, known: KnownMedoids) -> float:
    """Weighted sum of the distances to the nearest medoids."""
    rows = known.metric.prepare_tiles(block.rows)
    nearest = nearest_medoids(known, rows, block.n_threads)[1]
    return total_of("KMedoids", nearest, block.weights)
