"""The one density level at which the most clusters last longest.

DBSCAN at every eps is a tree: as eps falls, clusters appear, shrink and split (Campello, Moulavi &
Sander 2013). A cluster lasts from the eps below which it is apart to those at which its rows leave
it, counted in logarithms, so that dense and sparse clusters weigh the same. What one eps shows is
what is alive there, and it is worth the time that these clusters last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._distinct import distinct
from coterie.density._condense import CondensedTree

Floats = npt.NDArray[np.float64]

#: What counts as a cluster: so many times min_samples, and this share of the rows.
SAMPLES, ROWS_SHARE = 2, 0.01
#: A level reaches as far as what it shows is worth nearly as much as at its best.
NEARLY = 0.98
#: What uniform rows stay below: their persistence times the square of their dimension, for 1000
#: rows, and what is added for few. Beyond 1000 rows it falls with the power 2/3 of their number.
CHANCE, CHANCE_OF_MANY, CHANCE_OF_FEW = 1.3, 1.5, 40.0
#: Lengths of the tree are 1 / lambda, rounded twice.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Level:
    """From `low` to `high`, any eps shows clusters of nearly the same persistence.

    `persistence` is the logarithm of the distance over which a row stays in one cluster of the
    level, on average over all rows, those in none included.
    """

    low: float
    high: float
    persistence: float


def lasting_level(tree: CondensedTree) -> Level | None:
    """The level whose clusters last longest; None where the tree has no clusters.

    Rows with so many copies that they never leave are in clusters at any eps and do not count.
    """
    leaves = np.isfinite(tree.row_lambda)
    if tree.parent.size == 1 or not leaves.any():
        return None
    densest = tree.row_lambda[leaves].max()
    birth, death = np.minimum(tree.birth, densest), np.minimum(tree.death, densest)
    lasting = _persistence(tree, birth, leaves)
    # Between two events, births or deaths, the same clusters are alive.
    events = distinct(np.concatenate([birth[1:], death[1:]]))
    alive = (birth[1:, np.newaxis] <= events[:-1]) & (death[1:, np.newaxis] > events[:-1])
    worth = lasting[1:] @ alive
    if worth.size == 0 or worth.max() <= 0:
        return None
    best = int(np.argmax(worth))
    less = np.flatnonzero(worth < NEARLY * worth[best])
    first = int(less[less < best].max(initial=-1)) + 1
    last = int(less[less > best].min(initial=worth.size)) - 1
    low, high = (1 + _ROUNDING) / events[last + 1], (1 - _ROUNDING) / events[first]
    return Level(float(low), float(high), float(worth[best]))


def _persistence(tree: CondensedTree, birth: Floats, counts: npt.NDArray[np.bool_]) -> Floats:
    """How long rows that count stay in each cluster: the mean over them of log(leaving / birth)."""
    n_clusters = birth.size
    log_birth = np.log(birth, where=birth > 0, out=np.zeros(n_clusters))  # 0 for that of all rows
    cluster, log_leaving = tree.row_cluster[counts], np.log(tree.row_lambda[counts])
    total = np.bincount(cluster, log_leaving - log_birth[cluster], minlength=n_clusters)
    size = np.bincount(cluster, minlength=n_clusters)
    for child in range(n_clusters - 1, 0, -1):  # whose rows leave the parent when it is born
        parent = tree.parent[child]
        size[parent] += size[child]
        total[parent] += size[child] * (log_birth[child] - log_birth[parent])
    return total / log_leaving.size


def least_size(min_samples: int, n_rows: int) -> int:
    """The rows that a cluster must have to count."""
    return max(SAMPLES * min_samples, int(ROWS_SHARE * n_rows), 2)


def is_chance(level: Level, n_rows: int, n_dims: float) -> bool:
    """Whether rows without clusters may well show such a level."""
    many = CHANCE_OF_MANY * (1000 / n_rows) ** (2 / 3)
    return level.persistence * n_dims**2 < min(CHANCE, many) + CHANCE_OF_FEW / n_rows
