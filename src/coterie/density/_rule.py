"""What DBSCAN asks of a row, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Whose cluster a border row joins.
BORDERS = ("first", "nearest", "noise")


@dataclass(frozen=True)
class DensityRule:
    """A row is core when the rows within `eps` of it, itself included, weigh `min_samples`.

    `weights` has one entry per row, None where each weighs one. `border` says which cluster a row
    near core rows joins: the first in number, that of its nearest core row, or none.
    """

    eps: float
    min_samples: float
    weights: Doubles | None
    border: str
    n_threads: int


@dataclass(frozen=True)
class Clustering:
    """The cluster of every row, or -1; whether it is core; how many clusters there are.

    Clusters are numbered by their lowest core row.
    """

    labels: Labels
    core: npt.NDArray[np.bool_]
    n_clusters: int
