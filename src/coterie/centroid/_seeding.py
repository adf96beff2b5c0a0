"""Where k-means starts: the seedings, one function each with one shared signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.centroid._passes import survey
from coterie.centroid._seed_distances import SeedDistances, seed_distances
from coterie.centroid._space import Space
from coterie.data import Blocks, as_blocks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Rows handled at a time where a pass needs scratch as wide as the rows.
_SLICE_ROWS = 4096
#: Seeds that may wait to be added, each of which a draw is compared with.
_MOST_WAITING = 256


@dataclass(frozen=True)
class Seeds:
    """Starting centres, (n_clusters, n_features), and the rows they are, if they are rows."""

    centers: Floats
    indices: Ints | None


def _pick_rows(blocks: Blocks, size: int, rng: np.random.RandomState) -> Ints:
    """Distinct rows with probability proportional to weight; the draws of ``rng.choice``.

    Without weights that is done with O(`size`) memory. Rounds of draws are repeated for those
    that met a row already found.
    """
    weights = blocks.weights
    if weights is not None:
        if np.count_nonzero(weights) < size:
            return _unused_rows(blocks, np.empty(0, dtype=np.int64), size, rng)
        return rng.choice(blocks.n_rows, size=size, replace=False, p=weights / weights.sum())
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        ranks = (rng.random_sample(size - len(found)) * (blocks.n_rows - len(found))).astype(int)
        # Rank among the rows not found yet, to row: step over those found that lie before it.
        taken = np.sort(found) - np.arange(len(found))
        rows = ranks + np.searchsorted(taken, ranks, side="right")
        first_met = np.sort(np.unique(rows, return_index=True)[1])
        found = np.concatenate([found, rows[first_met]])
    return found


def _unused_rows(blocks: Blocks, used: Ints, size: int, rng: np.random.RandomState) -> Ints:
    """Rows not in `used`, at random; those without weight come last."""
    free = np.ones(blocks.n_rows, dtype=bool)
    free[used] = False
    rows = rng.permutation(np.flatnonzero(free))
    if blocks.weights is not None:
        rows = rows[np.argsort(blocks.weights[rows] == 0, kind="stable")]
    return rows[:size]


def _copies(dists: SeedDistances, n_seeds: int, rng: np.random.RandomState) -> Ints:
    """The seeds still missing once every row with weight is a seed or the copy of one."""
    return _unused_rows(dists.blocks, np.array(dists.seeds), n_seeds - len(dists.seeds), rng)


def _add_best_draws(
    dists: SeedDistances, n_seeds: int, rng: np.random.RandomState, n_trials: int
) -> None:
    """Add seeds by D^2 sampling, each the best of `n_trials` draws, until there are `n_seeds`."""
    dists.expect(n_trials * (n_seeds - len(dists.seeds)))
    while len(dists.seeds) < n_seeds:
        quantiles = rng.uniform(size=n_trials)
        if dists.potential == 0:
            dists.add(_copies(dists, n_seeds, rng))
            return
        row_ids = dists.draw(quantiles)
        dists.add_measured(row_ids, int(np.argmax(dists.gains(row_ids))))


def _add_draws(dists: SeedDistances, n_seeds: int, rng: np.random.RandomState) -> Ints:
    """Add seeds by D^2 sampling, many in one pass; returns the last ones, which are not added yet.

    Seeds wait to be added. A row near to one that waits is drawn too often, by what `dists` knows
    of it; such a draw counts only with probability D^2 over what D^2 would be without the seeds
    that wait. So those that count have exactly the probabilities of D^2 sampling, as if no seed had
    waited. They wait for as long as draws in vain cost less than a pass.
    """
    most = min(n_seeds, _MOST_WAITING)
    centers = np.empty((most, dists.blocks.n_cols))
    waiting: list[int] = []
    n_vain = 0
    while len(dists.seeds) + len(waiting) < n_seeds:
        quantile = rng.uniform(size=1)
        if dists.potential == 0:
            return _copies(dists, n_seeds, rng)
        row = dists.draw(quantile)
        if waiting and rng.uniform() >= dists.share_left(int(row[0]), centers[: len(waiting)]):
            n_vain += 1
        else:
            centers[len(waiting)] = dists.blocks.take(row)[0]
            waiting.append(int(row[0]))
        if n_vain >= dists.patience or len(waiting) == most:
            dists.add(np.array(waiting))
            waiting, n_vain = [], 0
    return np.array(waiting, dtype=np.int64)


def _trials(n_local_trials: int | None, n_clusters: int) -> int:
    """scikit-learn's number of trials unless one is given."""
    return 2 + int(np.log(n_clusters)) if n_local_trials is None else n_local_trials


def _rows_as_seeds(blocks: Blocks, row_ids: npt.ArrayLike) -> Seeds:
    indices = np.asarray(row_ids, dtype=np.int64)
    return Seeds(blocks.take(indices), indices)


def plusplus_rows(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Draw rows one by one, each in proportion to its squared distance from those drawn so far.

    Arthur and Vassilvitskii (2007). Each step draws `n_local_trials` rows and keeps the one that
    lowers the potential most: 1 is the paper's method, None scikit-learn's 2 + log(n_clusters). The
    draws are scikit-learn's for the same random state; with one trial on 2^18 values or more they
    only have the same probabilities, and come with few passes. Costs at most O(n_rows * n_clusters
    * n_features) a trial, much less on clustered rows, and the memory of `SeedDistances`.

    Parameters
    ----------
    blocks
        Rows to choose from, with their weights; a row without weight comes after all others.
    space
        The rows' coordinates.
    n_clusters
        How many rows, at most ``blocks.n_rows``. Copies of a row are chosen once there is
        nothing else left.
    rng
        Where the draws come from.
    n_local_trials
        Draws a step.
    """
    dists = seed_distances(blocks, space)
    dists.add(_pick_rows(blocks, 1, rng))
    n_trials = _trials(n_local_trials, n_clusters)
    if n_trials == 1:
        last = _add_draws(dists, n_clusters, rng)
        return _rows_as_seeds(blocks, np.append(dists.seeds, last))
    _add_best_draws(dists, n_clusters, rng, n_trials)
    return _rows_as_seeds(blocks, dists.seeds)


def random_rows(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Pick distinct rows at random (Forgy 1965), with probability proportional to weight.

    The draws are scikit-learn's for the same random state. Parameters as in `plusplus_rows`.
    """
    return _rows_as_seeds(blocks, _pick_rows(blocks, n_clusters, rng))


def random_labels(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Give every row a random label and start from the labels' means.

    The means lie close together around the mean of all rows. A label that no row with weight got
    starts from a random row. Costs one pass over the rows. Parameters as in `plusplus_rows`.
    """
    sums = np.zeros((n_clusters, blocks.n_cols))
    weight_sums = np.zeros(n_clusters)
    for start in range(0, blocks.n_rows, _SLICE_ROWS):
        rows = blocks.rows[start : start + _SLICE_ROWS] * blocks.dtype.type(space.scale)
        size = rows.shape[0]
        weights = np.ones(size) if blocks.weights is None else blocks.weights[start : start + size]
        labels = rng.randint(n_clusters, size=size)
        members = sp.csc_array((weights, labels, np.arange(size + 1)), shape=(n_clusters, size))
        added = members @ rows.astype(np.float64)
        sums += added.toarray() if blocks.sparse else added
        weight_sums += np.bincount(labels, weights, minlength=n_clusters)
    empty = weight_sums == 0
    weight_sums[empty] = 1.0
    centers = sums / weight_sums[:, np.newaxis] / space.scale
    centers[empty] = blocks.take(_pick_rows(blocks, int(empty.sum()), rng))
    return Seeds(centers, None)


def bounding_box(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Draw points uniformly from the smallest box that holds all rows.

    In many dimensions most of the box is empty, and so are many of the clusters started there.
    Costs one pass over the rows. Parameters as in `plusplus_rows`.
    """
    columns = blocks.total(survey)
    share = rng.uniform(size=(n_clusters, blocks.n_cols))
    return Seeds(columns.min * (1 - share) + columns.max * share, None)


def farthest_first(blocks: Blocks, space: Space, n_clusters: int, *, first: int) -> Seeds:
    """Take, again and again, the row farthest from all rows taken; ties go to the lower row.

    Gonzalez (1985): the largest distance left is at most twice that of the best choice of rows.
    Costs as in `plusplus_rows` with one trial.

    Parameters
    ----------
    blocks, space, n_clusters
        As in `plusplus_rows`; weights matter only in being zero or not.
    first
        The row to begin with.
    """
    dists = seed_distances(blocks, space)
    dists.add(np.array([first]))
    while len(dists.seeds) < n_clusters:
        dists.add(np.array([_farthest_row(dists)]))
    return _rows_as_seeds(blocks, dists.seeds)


def _farthest_row(dists: SeedDistances) -> int:
    """The row farthest from its nearest seed; when only copies of seeds are left, an unused one."""
    weights = dists.blocks.weights
    sq_dists = dists.closest if weights is None else np.where(weights > 0, dists.closest, 0.0)
    farthest = int(np.argmax(sq_dists))
    if sq_dists[farthest] > 0:
        return farthest
    free = np.ones(dists.blocks.n_rows) if weights is None else 1.0 + (weights > 0)
    free[dists.seeds] = 0.0
    return int(np.argmax(free))


def farthest_first_from_any(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """`farthest_first` from a random row. Parameters as in `plusplus_rows`."""
    first = int(_pick_rows(blocks, 1, rng)[0])
    return farthest_first(blocks, space, n_clusters, first=first)


def kmeans_parallel(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Draw many rows in few rounds, then reduce them by k-means++: "k-means||".

    Bahmani et al. (2012). Each of 5 rounds takes every row on its own with probability
    2 n_clusters * weight * sq_dist / potential; the rows taken, weighted by the rows nearest to
    each, are then seeded by `plusplus_rows`. Takes 6 passes over the rows instead of n_clusters,
    and about 10 n_clusters distances a row where nothing can be skipped. Parameters as there.
    """
    dists = seed_distances(blocks, space)
    dists.add(_pick_rows(blocks, 1, rng))
    for _ in range(5):
        potential = dists.potential
        if potential == 0:
            break
        dists.add(_oversample(dists, 2 * n_clusters / potential, rng))
    if len(dists.seeds) < n_clusters:  # rarely, so few rows were drawn
        dists.add(_add_draws(dists, n_clusters, rng))
    drawn = np.array(dists.seeds)
    weights = _weights_of_nearest(dists)
    candidates = as_blocks(blocks.rows[drawn], weights, blocks.n_threads)
    seeds = plusplus_rows(candidates, space, n_clusters, rng, n_local_trials=n_local_trials)
    assert seeds.indices is not None
    return Seeds(seeds.centers, drawn[seeds.indices])


def _oversample(dists: SeedDistances, factor: float, rng: np.random.RandomState) -> Ints:
    """Each row on its own, with probability ``factor * weight * closest``."""
    weights = dists.blocks.weights
    taken = []
    for start in range(0, dists.blocks.n_rows, _SLICE_ROWS):
        share = dists.closest[start : start + _SLICE_ROWS] * factor
        if weights is not None:
            share = share * weights[start : start + _SLICE_ROWS]
        taken.append(start + np.flatnonzero(rng.random_sample(len(share)) < share))
    return np.concatenate(taken)


def _weights_of_nearest(dists: SeedDistances) -> Floats:
    """The weight of the rows nearest to each seed."""
    total = np.zeros(len(dists.seeds))
    weights = dists.blocks.weights
    for start in range(0, dists.blocks.n_rows, _SLICE_ROWS):
        here = slice(start, start + _SLICE_ROWS)
        counted = None if weights is None else weights[here]
        total += np.bincount(dists.nearest[here], counted, minlength=len(total))
    return total


#: The seedings by the names `init=` takes.
SEEDINGS: dict[str, Callable[..., Seeds]] = {
    "k-means++": plusplus_rows,
    "random": random_rows,
    "random-labels": random_labels,
    "box": bounding_box,
    "farthest-first": farthest_first_from_any,
    "k-means||": kmeans_parallel,
}
