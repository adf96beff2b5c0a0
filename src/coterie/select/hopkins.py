"""Hopkins' statistic: are rows nearer to each other than to places drawn uniformly?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from scipy.stats import beta

from coterie._checks import NONE, check_params, whole
from coterie._doors import checked
from coterie._in_memory import held
from coterie._random import check_random_state
from coterie.neighbors import knn

__all__ = ["Hopkins", "hopkins"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hopkins:
    """Hopkins' statistic, the chance of one as large among uniform rows, and how many were asked.

    About 0.5 where rows are uniform, towards 1 where they crowd, towards 0 on a grid.
    """

    statistic: float
    p_value: float
    n_probes: int


def hopkins(X: Any, *, n_probes: int | None = None, random_state: Any = None) -> Hopkins:
    """Compare distances from drawn places to the rows with those among the rows.

    Hopkins & Skellam (1954), in the form of Wright (2022, "Will the real Hopkins statistic please
    stand up?", The R Journal 14): with d columns,

        H = sum u^d / (sum u^d + sum w^d),

    where u are the distances of m places, uniform in the bounding box of the rows, to the nearest
    row, and w those of m rows to their nearest other. The exponent d makes H follow Beta(m, m)
    where the rows are uniform. Time is that of 2 m nearest neighbours, memory O(n d).

    It tells rows from *uniform* ones and no more: a single Gaussian, or any one heap with thin
    edges, has H well above 0.5, so a large value is no evidence of clusters. Edges of the box and
    many columns push it up, too.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features), or what says where rows are
        Columns without spread are left out.
    n_probes : int or None, default=None
        How many places and how many rows, m; None: a tenth of the rows, 10 to 100. More than a
        tenth of the rows are not independent.
    random_state : int, RandomState or None
        Seed or generator of all draws: the same seed, the same result.
    """
    who = "hopkins"
    check_params(who, {"n_probes": n_probes}, {"n_probes": NONE | whole(1)})
    given = held(who, X, "a search for nearest neighbours")
    rows = checked(who, given, dtype=np.float64, ensure_min_samples=2)
    n_rows = rows.shape[0]
    n_probes = min(n_rows, int(np.clip(n_rows // 10, 10, 100)) if n_probes is None else n_probes)
    return hopkins_of(rows, n_probes, check_random_state(random_state))


def hopkins_of(rows: Floats, n_probes: int, rng: np.random.RandomState) -> Hopkins:
    """The statistic of finite rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    spread = high > low
    if not spread.any():
        return Hopkins(0.5, 1.0, n_probes)
    rows, low, high = rows[:, spread], low[spread], high[spread]
    width = float((high / 2 - low / 2).max())  # halves, since a difference may overflow
    rows = rows / width - low / width
    places = rng.random_sample((n_probes, rows.shape[1])) * rows.max(axis=0)
    chosen = rng.permutation(rows.shape[0])[:n_probes]
    from_places = knn(rows, 1, places).dists[:, 0]
    # Of two equal rows each is the other's nearest, so the second distance is that to another row.
    among_rows = knn(rows, 2, rows[chosen]).dists[:, 1]
    share = _share_of_first(from_places, among_rows, rows.shape[1])
    return Hopkins(share, float(beta.sf(share, n_probes, n_probes)), n_probes)


def _share_of_first(first: Floats, second: Floats, power: int) -> float:
    """sum first^d / (sum first^d + sum second^d), by logarithms; a half of nothing."""
    if not first.any() and not second.any():
        return 0.5
    with np.errstate(divide="ignore"):
        logs = logsumexp(power * np.log(first)), logsumexp(power * np.log(second))
    return float(np.exp(logs[0] - np.logaddexp(*logs)))
