"""Null replay: the same clustering on structureless rows, and the chance of as good a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.select.dip import log_dip_p, measure_dips

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
#: Draws structureless rows in place of some, given by their principal components.
Null = Callable[[Floats, np.random.RandomState], Floats]

#: Numbers of clusters that are tried, as long as each has this many rows on average.
_CLUSTERS, _ROWS_A_CLUSTER = (2, 3, 5, 8, 13, 21), 20
#: Principal components that are clustered: one for so many rows, and two at least. Rows in about
#: as many dimensions as there are rows lie at the corners of a simplex, where any two heaps of them
#: seem apart.
_ROWS_A_COMPONENT, _FEWEST_COMPONENTS = 10, 2
#: Components that are given one variance at most: further ones would be as much noise.
_MOST_WHITENED = 30
#: Pairs of clusters with fewer rows than this are not looked at.
_FEWEST_ROWS = 10
#: Passes of k-means: the cuts need not settle, as those of the replays do not.
_PASSES = 8
#: Replays at most, and how many as good ones end them early.
_REPLAYS, _ENOUGH = 99, 8


@dataclass(frozen=True)
class Replay:
    """How deep the deepest gap between two neighbouring clusters is, and the chance of one.

    `score` is -log of the dip's tabulated chance, of which only the order matters; `n_clusters`
    where it was found; `p_values` the chance under each null, by its name, and `p_value` the
    largest of them, since rows must differ from all that has no structure; `n_replays` how many
    were made.
    """

    score: float
    n_clusters: int
    p_value: float
    p_values: dict[str, float]
    n_replays: int


def uniform_in_box(rows: Floats, rng: np.random.RandomState) -> Floats:
    """Uniform in the box along the principal components (Tibshirani, Walther & Hastie 2001)."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return low + (high - low) * rng.random_sample(rows.shape)


def gaussian_like(rows: Floats, rng: np.random.RandomState) -> Floats:
    """Gaussian with the covariance of the rows, whose components are not correlated."""
    return rng.standard_normal(rows.shape) * rows.std(axis=0)


def uniform_in_ball(rows: Floats, rng: np.random.RandomState) -> Floats:
    """Uniform in the ellipsoid along the principal components that has their variances.

    In many columns a box has corners that rows without them lack, and a Gaussian a dense middle.
    """
    n_rows, n_cols = rows.shape
    away = rng.standard_normal(rows.shape)
    lengths = np.sqrt(np.square(away).sum(axis=1, keepdims=True))
    radii = rng.random_sample((n_rows, 1)) ** (1 / n_cols) * np.sqrt(n_cols + 2)
    return away / lengths * radii * rows.std(axis=0)


NULLS: dict[str, Null] = {
    "uniform": uniform_in_box, "gaussian": gaussian_like, "ball": uniform_in_ball,
}  # fmt: skip


def replay(rows: Floats, rng: np.random.RandomState) -> Replay:
    """Score the rows, given by their principal components, and structureless ones in their place.

    Of the components the first are looked at, one for every ten rows. Replays end once some null
    has shown `_ENOUGH` scores as good (Besag & Clifford 1991), which leaves the chance valid and
    most of the work undone where there is nothing.
    """
    n_cols = max(_FEWEST_COMPONENTS, rows.shape[0] // _ROWS_A_COMPONENT)
    rows = np.ascontiguousarray(rows[:, :n_cols])
    tried = numbers_tried(rows)
    score, n_clusters = deepest_gap(rows, tried, rng)
    if score == 0.0:
        return Replay(0.0, n_clusters, 1.0, dict.fromkeys(NULLS, 1.0), 0)
    as_good = dict.fromkeys(NULLS, 0)
    n_made = 0
    while n_made < _REPLAYS and max(as_good.values()) < _ENOUGH:
        n_made += 1
        for name, null in NULLS.items():
            gaps = _gaps(null(rows, rng), tried, rng)
            as_good[name] += any(gap >= score for gap, _ in gaps)
    p_values = {
        name: count / n_made if count >= _ENOUGH else (count + 1) / (n_made + 1)
        for name, count in as_good.items()
    }
    return Replay(score, n_clusters, max(p_values.values()), p_values, n_made)


def numbers_tried(rows: Floats) -> list[int]:
    """Numbers of clusters for rows like these: 2, and more as long as there are rows for them."""
    n_distinct = np.unique(rows, axis=0).shape[0]
    most = max(2, rows.shape[0] // _ROWS_A_CLUSTER)
    return [number for number in _CLUSTERS if number <= min(most, n_distinct)]


def deepest_gap(
    rows: Floats, tried: Sequence[int], rng: np.random.RandomState
) -> tuple[float, int]:
    """-log of the least chance of the dip between neighbouring clusters, and their number.

    A dip does not mind skewness or long tails of one heap, as sums of squares and silhouettes do.
    """
    return max(_gaps(rows, tried, rng), default=(0.0, 1))


def _gaps(
    rows: Floats, tried: Sequence[int], rng: np.random.RandomState
) -> Iterator[tuple[float, int]]:
    """-log of the chance of the dip between every two neighbouring clusters, and their number.

    Of clusters of the rows, and of the rows with their first components all of one variance.
    """
    deviations = rows.std(axis=0)
    whitened = rows / np.where(deviations > 0, deviations, 1.0)
    whitened = np.ascontiguousarray(whitened[:, :_MOST_WHITENED])
    for some in (rows, whitened) if rows.shape[1] > 1 else (rows,):
        for centers, labels in cut(some, tried, rng):
            ends = np.cumsum(np.bincount(labels))[:-1]
            members = np.split(np.argsort(labels, kind="stable"), ends)
            for i, j in _neighbours(centers):
                both = some[np.concatenate([members[i], members[j]])]
                yield _gap(both, centers[j] - centers[i]), centers.shape[0]


def _gap(rows: Floats, axis: Floats) -> float:
    """-log of the chance of the dip along an axis."""
    if rows.shape[0] < _FEWEST_ROWS:
        return 0.0
    dips, _ = measure_dips(np.sort(rows @ axis)[np.newaxis], 1)
    return -log_dip_p(float(dips[0]), rows.shape[0])


class _Frame(NamedTuple):
    """Where distances are computed: principal components are centred and of unit size already."""

    scale: float
    shift: Floats


def cut(
    rows: Floats, tried: Sequence[int], rng: np.random.RandomState
) -> Iterator[tuple[Floats, Labels]]:
    """Centres and labels of k-means for each number of clusters, some passes of Lloyd (1982).

    All start from the same seeds, of which each takes as many as it needs: the first k of
    k-means++ are k-means++. O(n k d) per pass.
    """
    if not tried:
        return
    frame = _Frame(1.0, np.zeros(rows.shape[1]))
    seeds = _seeds(rows, max(tried), rng)
    labels = np.empty(rows.shape[0], dtype=np.int32)
    for n_clusters in tried:
        centers = seeds[:n_clusters]
        for _ in range(_PASSES):
            kernels.assign(rows, centers, frame, labels, 1)
            sums = np.zeros((n_clusters, rows.shape[1] + 1))
            kernels.sum_by_label(rows, None, labels, frame.shift, sums, 1)
            empty = sums[:, -1:] == 0
            moved = np.where(empty, centers, sums[:, :-1] / np.where(empty, 1.0, sums[:, -1:]))
            if np.array_equal(moved, centers):
                break
            centers = moved
        yield centers, labels


def _seeds(rows: Floats, n_seeds: int, rng: np.random.RandomState) -> Floats:
    """Rows drawn in proportion to the squared distance to those before (k-means++)."""
    seeds = np.empty((n_seeds, rows.shape[1]))
    sq_dist = np.ones(rows.shape[0])
    for at, draw in enumerate(rng.random_sample(n_seeds)):
        upto = np.cumsum(sq_dist)
        seeds[at] = rows[min(np.searchsorted(upto, draw * upto[-1], "right"), upto.size - 1)]
        away = rows - seeds[at]
        here = np.einsum("ij,ij->i", away, away)
        sq_dist = np.minimum(sq_dist, here) if at else here
    return seeds


def _neighbours(centers: Floats) -> list[tuple[int, int]]:
    """Pairs of centres with no third one nearer to their middle (Gabriel & Sokal 1969)."""
    squares = np.einsum("ij,ij->i", centers, centers)
    apart = squares[:, np.newaxis] + squares - 2 * centers @ centers.T
    # |c - (a + b) / 2|^2 < |a - b|^2 / 4 is |c - a|^2 + |c - b|^2 < |a - b|^2.
    via = (apart[:, np.newaxis, :] + apart[np.newaxis, :, :]).copy()
    own = np.arange(centers.shape[0])
    via[own, :, own] = np.inf
    via[:, own, own] = np.inf
    pairs = np.argwhere(np.triu(apart <= via.min(axis=2), 1))
    return [(int(i), int(j)) for i, j in pairs]
