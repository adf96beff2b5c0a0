"""Farthest-first traversal by itself: for whoever wants rows that cover all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params
from coterie._history import Recorder
from coterie.medoid.kcenter import KCenter


class FarthestFirst(NamedTuple):
    """What `farthest_first` found.

    `indices` are the rows taken, in order; `radii` the covering radius after each, the largest
    distance of a row to its nearest centre; `labels` the nearest centre of every row, ties to the
    lower; `lower_bound` what no k centres have a smaller radius than (None: not known).
    """

    indices: npt.NDArray[np.int64]
    radii: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int32]
    lower_bound: float | None

    @property
    def radius(self) -> float:
        """The covering radius of all centres."""
        return float(self.radii[-1])


def farthest_first(
    X: Any,
    k: int,
    metric: Any = "euclidean",
    *,
    start: int | None = None,
    random_state: Any = None,
    metric_params: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
) -> FarthestFirst:
    """Take k rows, each the farthest from those taken before; ties go to the lower row.

    Gonzalez (1985); Hochbaum & Shmoys (1985). The radius r = max_i min_j d(x_i, c_j) is at most
    twice the smallest that k centres can have, if d obeys the triangle inequality; so r / 2 is a
    lower bound of that (r / 4 for squared and cosine distances). The first j rows are the answer
    for j, so `radii` tells how many centres a radius takes. Time O(n k d), memory 13 bytes per row;
    see `KCenter`, which is this as an estimator.

    Parameters
    ----------
    X : array, data frame or CSR matrix of shape (n_rows, n_features), path, Dask collection or
        source; with ``metric="precomputed"`` distances, (n_rows, n_rows)
    k : int
        How many rows to take.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`, a function of two rows, or ``"precomputed"``.
    start : int or None, default=None
        The first row; None: one at random.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    metric_params : dict or None, default=None
        See `coterie.distance.as_metric`.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    FarthestFirst
        `indices`, `radii`, `labels`, `lower_bound`, and `radius`, the last of `radii`.

    Examples
    --------
    >>> from coterie import farthest_first
    >>> found = farthest_first([[0.0], [1], [4], [9]], 3, start=0)
    >>> found.indices.tolist(), found.radii.tolist()
    ([0, 3, 2], [9.0, 4.0, 1.0])
    """
    given = {"k": k, "metric": metric, "start": start}
    ours = KCenter._rules
    rules = {"k": ours["n_clusters"], "metric": ours["metric"], "start": ours["start"]}
    check_params("farthest_first", given, rules)
    model = _Traversing(
        k,
        metric=metric,
        metric_params=metric_params,
        start=start,
        random_state=random_state,
        n_threads=n_threads,
    ).fit(X)
    return FarthestFirst(model.center_indices_, model.radii_, model.labels_, model.lower_bound_)


class _Traversing(KCenter):
    """`KCenter` for the function, where centres may be copies of each other without a word."""

    def _tell_of_copies(self, recorder: Recorder) -> None:
        pass


_Traversing.__name__ = "farthest_first"  # who asks, in messages
