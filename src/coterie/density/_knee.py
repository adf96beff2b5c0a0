"""The choice of eps and min_samples by k-distances, and by the level at which clusters last.

A row's k-distance is the distance to its k-th neighbour, and at eps it is core exactly when its
(min_samples - 1)-distance is at most eps. Sorted, the k-distances of clustered rows form a flat
curve that turns up where noise begins: at its knee (Ester, Kriegel, Sander & Xu 1996). The knee
tells rows from noise, not clusters from each other: that is what the level of `_level.py` is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.density._condense import condense, single_linkage
from coterie.density._level import Level, is_chance, lasting_level, least_size
from coterie.neighbors import Index

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

    Each is sorted by itself, nearest first, and has one entry per row; a row is no neighbour of
    itself.
    """

    k: int
    kth: Floats
    mean: Floats


@dataclass(frozen=True)
class EpsSuggestion:
    """An eps, and what it was read from.

    `curve` holds the sorted (min_samples - 1)-distances, `knee` the place of its knee, or None
    where it has none. `strength` is how far the curve bends away from its chord, the straight line
    between its ends, with both axes scaled to [0, 1]: 0 for a straight line, 1 for a right angle.
    `level` is the range of eps in which the longest lasting clusters are apart, with their
    `persistence`, or None where they last no longer than those of uniform rows. eps is the
    distance at the knee, moved into the level. `reason` says it in a sentence.
    """

    eps: float
    min_samples: int
    curve: Floats
    knee: int | None
    strength: float
    level: Level | None
    reason: str

    @property
    def has_knee(self) -> bool:
        """Whether dense and sparse rows can be told apart by the curve."""
        return self.knee is not None

    @property
    def has_level(self) -> bool:
        """Whether there are clusters that last longer than by chance."""
        return self.level is not None


def k_distances(
    X: Any,
    k: int,
    *,
    metric: Any = "euclidean",
    n_threads: int | None = None,
    **metric_params: Any,
) -> KDistances:
    """The sorted k-distances of the rows, and the sorted means of the distances up to them.

    Memory 16 bytes per row beside the kd-tree; time that of `coterie.neighbors.kth_distances`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    k : int
        Which neighbour, not counting the row itself; 1 is the nearest.
    metric : name in `coterie.distance.METRICS` or callable
    n_threads : int or None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    KDistances
        `kth` and `mean`, float64 arrays of shape (n_rows,).
    """
    who = "k_distances"
    _shape(who, X)
    kth, mean = _distances(who, Index.over(who, X, metric, "auto", n_threads, metric_params), k)
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
    """An eps for DBSCAN, from the knee of the k-distances and the level at which clusters last.

    The knee is the point of the curve of sorted k-distances farthest from its chord. It is taken
    when it is strong, or when the rows of the curve's upper end are clearly sparser than the
    others; else there is no knee, as on uniform noise, where no eps tells dense rows from sparse
    ones, and the eps at which 99 of 100 rows are core stands in for it.

    The level is the range of eps at which the clusters of all eps that last longest are alive. If
    they last longer than those of uniform rows do, eps is moved into that range, by as little as
    possible: below it clusters fall to pieces, above it they run together.

    Rows with `min_samples` copies are core at any eps and are left out of the search for a knee.
    Memory and time are those of `coterie.spanning_tree`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    min_samples : int or None
        As for `DBSCAN`, so the row itself counts; None: what `suggest_min_samples` says.
    metric : name in `coterie.distance.METRICS` or callable
    n_threads : int or None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    EpsSuggestion
        With `eps`, `min_samples`, `curve`, `knee`, `strength`, `level`, `has_knee`, `has_level`
        and `reason`.
    """
    who = "suggest_eps"
    _, n_cols = _shape(who, X)
    index = Index.over(who, X, metric, "auto", n_threads, metric_params)
    if min_samples is None:
        min_samples = _read_min_samples(who, index, n_cols)
    return read_eps(who, index, min_samples)


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
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    """
    who = "suggest_min_samples"
    _, n_cols = _shape(who, X)
    index = Index.over(who, X, metric, "auto", n_threads, metric_params)
    return _read_min_samples(who, index, n_cols)


def _read_min_samples(who: str, index: Index, n_cols: int) -> int:
    """`suggest_min_samples` on behalf of `who`."""
    n_rows = index.n_rows
    start = (4 if n_rows < 100 else 5) if n_cols <= 2 else 2 * n_cols
    start += max(0, int(np.log2(max(n_rows, 1) / MANY_ROWS)))
    most = min(n_rows, max(4, n_rows // 4))
    k = _whole(who, "min_samples", min(start, most), 2) - 1
    kth, mean = _distances(who, index, k)
    found = find_knee(who, kth, mean, k)
    noise = 1 - (found.place + 1) / n_rows if found.is_one else 0.0
    return min(int(start * (1 + noise)), most)


def read_eps(who: str, index: Index, min_samples: Any) -> EpsSuggestion:
    """`suggest_eps` on behalf of `who`."""
    min_samples = _whole(who, "min_samples", min_samples, 1)
    if min_samples < 2:
        raise ValueError(
            f"{who}: min_samples={min_samples} makes every row core at any eps, so no distance "
            "tells an eps; use min_samples of at least 2."
        )
    kth, mean = _distances(who, index, min_samples - 1)
    knee = find_knee(who, kth, mean, min_samples - 1)
    level = None
    if np.isfinite(kth).all():
        tree = index.spanning_tree(kth)
        level = lasting_level(condense(single_linkage(tree), least_size(min_samples, kth.size)))
    if level is not None and is_chance(level, kth.size, knee.n_dims):
        level = None
    eps = knee.eps if level is None else min(max(knee.eps, level.low), level.high)
    return EpsSuggestion(
        eps,
        min_samples,
        np.sort(kth),
        knee.place if knee.is_one else None,
        knee.strength,
        level,
        _reason(knee, level, eps),
    )


@dataclass(frozen=True)
class Knee:
    """A place on the curve of k-distances, the eps there, and whether it is a knee.

    `n_dims` is the dimension that the rows fill.
    """

    place: int
    eps: float
    strength: float
    is_one: bool
    n_dims: float


def find_knee(who: str, kth: Floats, mean: Floats, k: int) -> Knee:
    """The knee of the curve of these k-distances, or the place where 99 of 100 rows are core."""
    n_dims = _dimension(kth, mean, k)
    curve = np.sort(kth)
    n_copies = int(np.searchsorted(curve, 0.0, side="right"))
    telling = curve[n_copies : np.searchsorted(curve, np.inf)]  # neither copies nor out of reach
    if telling.size == 0:
        raise ValueError(
            f"{who}: every row has at least min_samples={k + 1} copies or no neighbours at a "
            "finite distance, so no distance tells an eps; pass the distinct rows with their "
            "counts as sample_weight, or an eps."
        )
    place, strength = farthest_from_chord(telling)
    is_one = strength >= STRONG or _drops(telling, n_dims)
    if not is_one:
        place = int(CORE_SHARE * (telling.size - 1))
    # The next number up: the square of a rounded root may be below the sum it came from.
    eps = float(np.nextafter(telling[place], np.inf))
    return Knee(n_copies + place, eps, strength, is_one, n_dims)


def _reason(knee: Knee, level: Level | None, eps: float) -> str:
    """Why this eps, in a sentence."""
    if knee.is_one:
        told = f"the curve has a knee of strength {knee.strength:.2f}"
    else:
        told = f"the curve has no knee (strength {knee.strength:.2f})"
    if level is not None:
        there = "lies in it" if eps == knee.eps else f"is at {knee.eps:.4g}, outside of it"
        mark = "the knee" if knee.is_one else "the distance at which 99 of 100 rows are core"
        return (
            f"{told}; the longest lasting clusters are apart for eps from {level.low:.4g} to "
            f"{level.high:.4g}, and {mark} {there}"
        )
    if knee.is_one:
        return f"{told}, and no clusters last longer than by chance"
    return (
        f"{told}, as the rows are about equally dense and no eps tells clusters from noise; the "
        "eps given makes 99 of 100 rows core"
    )


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
    with np.errstate(over="ignore", invalid="ignore"):
        fall = n_dims * np.log(high / middle)
    return bool(fall >= DROP + DROP_OF_FEW / np.sqrt(curve.size))


def _dimension(kth: Floats, mean: Floats, k: int) -> float:
    """The dimension that rows fill: in D of them, nearer neighbours are at D / (D + 1) of the k-th.

    That is the mean over a ball of the distance to its centre, in units of the radius.
    """
    with np.errstate(over="ignore"):
        total = k * mean
    usable = (kth > 0) & np.isfinite(kth) & np.isfinite(total)
    if k < 2 or not usable.any():
        return 1.0
    share = float(np.mean((total[usable] / kth[usable] - 1) / (k - 1)))
    return share / max(1 - share, 1e-3)


def _distances(who: str, index: Index, k: Any) -> tuple[Floats, Floats]:
    """Distance to the k-th other row, and the mean of the distances up to it."""
    if index.n_rows <= _whole(who, "k", k, 1):
        raise ValueError(
            f"{who}: a row needs {k} neighbours and X has {index.n_rows} rows; lower k or "
            "min_samples, or pass more rows."
        )
    return index.kth_distances(int(k) + 1)


def _shape(who: str, X: Any) -> tuple[int, int]:
    """Numbers of rows and columns."""
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(
            f"{who}: Expected 2D array, and X has shape {shape}; pass a table of rows, for example "
            "X.reshape(-1, 1) where it is one column."
        )
    return shape[0], shape[1]


def _whole(who: str, name: str, value: Any, at_least: int) -> int:
    """The value, if it is a whole number of at least this."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < at_least:
        raise ValueError(
            f"{who}: {name}={value!r} was given; use a whole number of at least {at_least}."
        )
    return int(value)
