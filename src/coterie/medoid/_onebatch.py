"""OneBatchPAM: FasterPAM on the distances of all rows to one weighted sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.medoid._pairs import Pairs

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Sampled rows, the weight of the rows that each stands for, and a search over them."""

    rows: Ids
    weights: Floats
    search: kernels.Medoids


def batch_size(n_rows: int, n_clusters: int) -> int:
    """As many rows as the paper samples: 100 log(k n)."""
    return min(n_rows, math.ceil(100 * math.log(max(2, n_clusters * n_rows))))


def draw_batch(
    pairs: Pairs,
    weights: Floats | None,
    allowed: npt.NDArray[np.bool_] | None,
    size: int,
    rng: np.random.RandomState,
) -> Batch:
    """Rows at random, each weighing as much as the rows to which it is the nearest of the sample.

    The variant "nniw" (nearest-neighbour importance weighting) of de Mathelin, Deheeger, Mougeot &
    Vayatis (2025), "OneBatchPAM". All `allowed` rows are candidates for medoids. The n times `size`
    distances are measured once for the weights; memory O(n).
    """
    possible = np.arange(pairs.n_rows) if allowed is None else np.flatnonzero(allowed)
    rows = np.sort(rng.choice(possible, min(size, possible.size), replace=False))
    search = pairs.search(None, allowed, rows)
    stands_in = np.empty(pairs.n_rows, dtype=np.int64)
    search.nearest_rows(stands_in, pairs.n_threads)
    stands_for = np.bincount(stands_in, weights, rows.size).astype(np.float64)
    search.weigh(stands_for)
    return Batch(rows, stands_for, search)
