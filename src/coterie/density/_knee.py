"""The choice of eps and min_samples by the curve of k-distances.

A row's k-distance is the distance to its k-th neighbour, and at eps it is core exactly when its
(min_samples - 1)-distance is at most eps. Sorted, the k-distances of clustered rows form a flat
curve that turns up where noise begins: at its knee (Ester, Kriegel, Sander & Xu 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.neighbors import kth_distances

Floats = npt.NDArray[np.float64]

#: Strength from which a knee is one. Uniform rows in two to twenty columns reached 0.65.
STRONG = 0.75
#: A weaker one counts, too, where the row at 95 % of the curve is sparser than the median row by
#: this factor's logarithm, and so much more, over sqrt(n), for few rows. Uniform rows stay below.
DROP, DROP_OF_FEW = 1.3, 8.0
#: Without a knee: the share of the rows that become core.
CORE_SHARE = 0.99
#: Rows from which each doubling adds one to min_samples.
MANY_ROWS = 1000


@dataclass(frozen=True)
class KDistances:
    """Distances of the rows to their k-th neighbour, and the means of those up to it.

    Each is sorted by itself, nearest first, and has one entry a row; a row is no neighbour of
    itself.
    """

    k: int
    kth: Floats
    mean: Floats


@dataclass(frozen=True)
class EpsSuggestion:
    """An eps, and what it was read from.

    `curve` holds the sorted (min_samples - 1)-distances, `knee` the place of eps on it, or None
    where the curve has no knee. `strength` is how far the curve bends away from its chord, the
    straight line between its ends, with both axes scaled to [0, 1]: 0 for a straight line, 1 for a
    right angle. `reason` says it in a sentence.
    """

    eps: float
    min_samples: int
    curve: Floats
    knee: int | None
    strength: float
    reason: str

    @property
    def has_knee(self) -> bool:
        """Whether dense and sparse rows can be told apart by the curve."""
        return self.knee is not None


def k_distances(
    X: Any,
    k: int,
    *,
    metric: Any = "euclidean",
    n_threads: int | None = None,
    **metric_params: Any,
) -> KDistances:
    """The sorted k-distances of the rows, and the sorted means of the distances up to them.

    Memory 16 bytes a row beside the kd-tree; time that of `coterie.neighbors.kth_distances`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    k : int
        Which neighbour, not counting the row itself; 1 is the nearest.
    metric : name in `coterie.distance.METRICS` or callable
    n_threads : int or None

    Returns
    -------
    KDistances
        `kth` and `mean`, float64 arrays of shape (n_rows,).
    """
    kth, mean = _distances("k_distances", X, k, metric, n_threads, metric_params)
    kth.sort()
    mean.sort()
    return KDistances(int(k), kth, mean)


def suggest_eps(
    X: Any,
    min_samples: int | None = None,
    *,
    metric: Any = "euclidean",
    n_threads: int | None = None,
    **metric_params: Any,
) -> EpsSuggestion:
    """An eps for DBSCAN, read from the curve of sorted k-distances.

    The knee is the point of the curve farthest from its chord. It is taken when it is strong, or
    when the rows of the curve's upper end are clearly sparser than the others; else there is no
    knee, as on uniform noise, where no eps tells dense rows from sparse ones. The eps given then
    makes 99 of 100 rows core, which is right for clusters without noise between them.

    Rows with `min_samples` copies are core at any eps and are left out of the search.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    min_samples : int or None
        As for `DBSCAN`, so the row itself counts; None: what `suggest_min_samples` says.
    metric : name in `coterie.distance.METRICS` or callable
    n_threads : int or None

    Returns
    -------
    EpsSuggestion
        With `eps`, `min_samples`, `curve`, `knee`, `strength`, `has_knee` and `reason`.
    """
    who = "suggest_eps"
    if min_samples is None:
        min_samples = suggest_min_samples(X, metric=metric, n_threads=n_threads, **metric_params)
    return read_eps(who, X, min_samples, metric, n_threads, metric_params)


def suggest_min_samples(
    X: Any,
    *,
    metric: Any = "euclidean",
    n_threads: int | None = None,
    **metric_params: Any,
) -> int:
    """A min_samples for DBSCAN, larger for more columns, more rows and more noise.

    The rule: 5 for up to two columns (4 below 100 rows), twice the columns for more; one more for
    each doubling of the rows beyond 1000; all that times one and the share of the rows beyond the
    knee, if there is one, rounded down; at most a quarter of the rows, but not below 4 for that.

    Ester et al. (1996) use 4 in two columns, Sander et al. (1998) twice the columns, Birant & Kut
    (2007) the logarithm of the rows, which this comes near for many.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    metric : name in `coterie.distance.METRICS` or callable
    n_threads : int or None
    """
    who = "suggest_min_samples"
    n_rows, n_cols = np.shape(X)
    start = (4 if n_rows < 100 else 5) if n_cols <= 2 else 2 * n_cols
    start += max(0, int(np.log2(max(n_rows, 1) / MANY_ROWS)))
    most = min(n_rows, max(4, n_rows // 4))
    found = read_eps(who, X, min(start, most), metric, n_threads, metric_params)
    noise = 0.0 if found.knee is None else 1 - (found.knee + 1) / n_rows
    return min(int(start * (1 + noise)), most)


def read_eps(
    who: str,
    X: Any,
    min_samples: int,
    metric: Any,
    n_threads: int | None,
    metric_params: dict[str, Any],
) -> EpsSuggestion:
    """`suggest_eps` on behalf of `who`."""
    if min_samples < 2:
        raise ValueError(
            f"{who}: min_samples={min_samples} makes every row core at any eps, so no distance "
            "tells an eps; use min_samples of at least 2."
        )
    kth, mean = _distances(who, X, min_samples - 1, metric, n_threads, metric_params)
    n_dims = _dimension(kth, mean, min_samples - 1)
    kth.sort()
    n_copies = int(np.searchsorted(kth, 0.0, side="right"))
    telling = kth[n_copies : np.searchsorted(kth, np.inf)]  # neither copies nor out of reach
    if telling.size == 0:
        raise ValueError(
            f"{who}: every row has at least min_samples={min_samples} copies or no neighbours at a "
            "finite distance, so no distance tells an eps; pass the distinct rows with their "
            "counts as sample_weight, or an eps."
        )
    place, strength = farthest_from_chord(telling)
    has_knee = strength >= STRONG or _drops(telling, n_dims)
    if has_knee:
        reason = f"the curve has a knee of strength {strength:.2f}"
    else:
        place = int(CORE_SHARE * (telling.size - 1))
        reason = (
            f"the curve has no knee (strength {strength:.2f}), as the rows are about equally dense "
            "and no eps tells clusters from noise; the eps given makes 99 of 100 rows core"
        )
    # The next number up: the square of a rounded root may be below the sum it came from.
    eps = float(np.nextafter(telling[place], np.inf))
    knee = n_copies + place if has_knee else None
    return EpsSuggestion(eps, int(min_samples), kth, knee, strength, reason)


def farthest_from_chord(curve: Floats) -> tuple[int, float]:
    """Where a rising curve is farthest below its chord, and how far, in units of its extent."""
    rise = curve[-1] - curve[0]
    if rise <= 0:
        return 0, 0.0
    below = np.linspace(0, 1, curve.size) - (curve - curve[0]) / rise
    knee = int(np.argmax(below))
    return knee, float(below[knee])


def _drops(curve: Floats, n_dims: float) -> bool:
    """Whether density falls towards the end of the curve by more than uniform rows make it fall."""
    middle, high = curve[(curve.size - 1) // 2], curve[int(0.95 * (curve.size - 1))]
    return bool(n_dims * np.log(high / middle) >= DROP + DROP_OF_FEW / np.sqrt(curve.size))


def _dimension(kth: Floats, mean: Floats, k: int) -> float:
    """The dimension that rows fill: in D of them, nearer neighbours are at D / (D + 1) of the k-th.

    That is the mean over a ball of the distance to its centre, in units of the radius.
    """
    usable = (kth > 0) & np.isfinite(kth)
    if k < 2 or not usable.any():
        return 1.0
    share = float(np.mean((k * mean[usable] / kth[usable] - 1) / (k - 1)))
    return share / max(1 - share, 1e-3)


def _distances(
    who: str,
    X: Any,
    k: Any,
    metric: Any,
    n_threads: int | None,
    metric_params: dict[str, Any],
) -> tuple[Floats, Floats]:
    """Distance to the k-th other row, and the mean of the distances up to it."""
    n_rows = np.shape(X)[0]
    if isinstance(k, bool) or not hasattr(k, "__index__") or k < 1:
        raise ValueError(f"{who}: k={k!r} was given; use a whole number of at least 1.")
    if n_rows <= k:
        raise ValueError(
            f"{who}: a row needs {k} neighbours and X has {n_rows} rows; lower k or min_samples, "
            "or pass more rows."
        )
    return kth_distances(X, int(k) + 1, metric=metric, n_threads=n_threads, **metric_params)
