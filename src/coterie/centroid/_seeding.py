"""Where k-means starts: the seedings, one function each with one shared signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.centroid._covers import new_cover, whole_steps
from coterie.centroid._farthest import farthest_rows, spare_rows
from coterie.centroid._passes import ClusterSums, survey
from coterie.centroid._races import potentials, race_from
from coterie.centroid._seed_distances import SeedDistances, seed_distances
from coterie.centroid._space import Space
from coterie.data import ArraySource, Block, RowsByNumber, Source
from coterie.data.chance import Chance

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


def _pick_rows(blocks: Source, size: int, rng: np.random.RandomState) -> Ints:
    """Distinct rows with probability proportional to weight; the draws of ``rng.choice``.

    Without weights that is done with O(`size`) memory. Rounds of draws are repeated for those
    that met a row already found.
    """
    weights = blocks.weights
    if weights is not None:
        if np.count_nonzero(weights) < size:
            return _unused_rows(blocks, np.empty(0, dtype=np.int64), size, rng)
        return rng.choice(blocks.n_rows, size=size, replace=False, p=weights / weights.sum())
    found: dict[int, None] = {}  # in the order they were met
    while len(found) < size:
        ranks = (rng.random_sample(size - len(found)) * (blocks.n_rows - len(found))).astype(int)
        if found:
            # Rank among the rows not found yet, to row: step over those found that lie before it.
            taken = np.sort(np.fromiter(found, dtype=np.int64)) - np.arange(len(found))
            ranks += np.searchsorted(taken, ranks, side="right")
        found |= dict.fromkeys(ranks.tolist())
    return np.fromiter(found, dtype=np.int64)


def _unused_rows(blocks: Source, used: Ints, size: int, rng: np.random.RandomState) -> Ints:
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


def _rows_as_seeds(blocks: Source, row_ids: npt.ArrayLike) -> Seeds:
    indices = np.asarray(row_ids, dtype=np.int64)
    return Seeds(blocks.take(indices), indices)


def plusplus_rows(
    blocks: Source,
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
    n_trials = _trials(n_local_trials, n_clusters)
    if not isinstance(blocks, RowsByNumber):
        return _plusplus_streamed(blocks, space, n_clusters, rng, n_trials)
    dists = seed_distances(blocks, space)
    dists.add(_pick_rows(blocks, 1, rng))
    if n_trials == 1:
        last = _add_draws(dists, n_clusters, rng)
        return _rows_as_seeds(blocks, np.append(dists.seeds, last))
    _add_best_draws(dists, n_clusters, rng, n_trials)
    return _rows_as_seeds(blocks, dists.seeds)


def _plusplus_streamed(
    blocks: Source, space: Space, n_clusters: int, rng: np.random.RandomState, n_trials: int
) -> Seeds:
    """The same by one pass for every seed, or two with several trials, each against all seeds.

    Rows are drawn by races: the draws depend on the random state and the rows alone, and are not
    those of rows in memory.
    """
    seeds = _pick_rows(blocks, 1, rng)
    centers, chance = blocks.take(seeds), Chance.of(rng)
    # Squared distances in the frame are at most four per column.
    step = whole_steps(blocks.n_rows) / (4 * blocks.n_cols)
    while seeds.size < n_clusters:
        winners = blocks.total(race_from, centers, space, chance, n_trials)
        if winners.rows.size == 0:
            return _with_copies(blocks, seeds, n_clusters)
        drawn, best = winners.values.astype(np.float64), 0
        if winners.rows.size > 1:
            best = int(np.argmin(blocks.total(potentials, centers, drawn, space, step)))
        seeds = np.append(seeds, winners.rows[best])
        centers = np.concatenate([centers, drawn[best : best + 1]])
        chance = chance.again()
    return Seeds(centers, seeds)


def random_rows(
    blocks: Source,
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
    blocks: Source,
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
    found = blocks.total(
        sum_random_labels, space, n_clusters, Chance.of(rng), whole_steps(blocks.n_rows)
    )
    empty = found.weight_sums == 0
    means = found.sums / np.where(empty, 1, found.weight_sums)[:, np.newaxis]
    centers = (means + space.shift) / space.scale
    centers[empty] = blocks.take(_pick_rows(blocks, int(empty.sum()), rng))
    return Seeds(centers, None)


def sum_random_labels(
    block: Block, space: Space, n_clusters: int, chance: Chance, step: float
) -> ClusterSums:
    """Sums of the rows of a block by random labels, in the frame's coordinates and whole steps."""
    sums = np.zeros((n_clusters, block.rows.shape[1]), dtype=np.int64)
    weight_sums = np.zeros(n_clusters, dtype=np.int64)
    for part in block.parts(_SLICE_ROWS):
        rows = part.rows.toarray() if sp.issparse(part.rows) else part.rows
        labels = (chance.draw(part.start, part.n_rows) * n_clusters).astype(np.int64)
        weights = np.ones(part.n_rows)
        if part.weights is not None:
            weights = part.weights / space.weight_unit
        at = rows.astype(np.float64) * space.scale - space.shift
        steps = np.rint(weights[:, np.newaxis] * at * step).astype(np.int64)
        places = (np.ones(part.n_rows, np.int64), labels, np.arange(part.n_rows + 1))
        sums += sp.csc_array(places, shape=(n_clusters, part.n_rows)) @ steps
        np.add.at(weight_sums, labels, np.rint(weights * step).astype(np.int64))
    return ClusterSums(sums, weight_sums, np.zeros(n_clusters, dtype=np.int64))


def bounding_box(
    blocks: Source,
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


def farthest_first(blocks: Source, space: Space, n_clusters: int, *, first: int) -> Seeds:
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
    found = list(islice(farthest_rows(blocks, space, first), n_clusters - 1))
    seeds = np.array([first, *(far.row for far in found)])
    if seeds.size < n_clusters:
        return _with_copies(blocks, seeds, n_clusters)
    values = [blocks.take([first]), *(far.values for far in found)]
    return Seeds(np.concatenate(values), seeds)


def _with_copies(blocks: Source, seeds: Ints, n_clusters: int) -> Seeds:
    """Seeds, and in their wake the first unused rows; those without weight come last."""
    spare = spare_rows(blocks, seeds, n_clusters - seeds.size)
    return _rows_as_seeds(blocks, np.concatenate([seeds, spare]))


def farthest_first_from_any(
    blocks: Source,
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
    blocks: Source,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Draw many rows in few rounds, then reduce them by k-means++: "k-means||".

    Bahmani et al. (2012). Each of 5 rounds draws 2 n_clusters rows with probability proportional
    to weight * D^2 (by a race, so that their number is exact and one pass is enough); the rows
    drawn, weighted by the rows nearest to each, are then seeded by `plusplus_rows`. Takes 7 passes
    over the rows instead of n_clusters, and about 10 n_clusters distances per row where nothing can
    be skipped, 30 n_clusters where rows are not in memory. Parameters as there.
    """
    cover = new_cover(blocks, space, int(_pick_rows(blocks, 1, rng)[0]))
    chance = Chance.of(rng)
    for _ in range(5):
        winners = cover.race(chance, 2 * n_clusters)
        if winners.rows.size == 0:
            break
        cover.add(winners)
        chance = chance.again()
    drawn = cover.seeds
    if drawn.size < n_clusters:  # all others are copies of these
        return _with_copies(blocks, drawn, n_clusters)
    candidates = ArraySource(cover.values, cover.weights(), blocks.n_threads)
    seeds = plusplus_rows(candidates, space, n_clusters, rng, n_local_trials=n_local_trials)
    assert seeds.indices is not None
    return Seeds(seeds.centers, drawn[seeds.indices])


#: Passes that k-means|| takes over rows that come only in their order.
_PARALLEL_PASSES = 7


def affordable(name: str, blocks: Source, n_clusters: int) -> tuple[str, str | None]:
    """The seeding to use where this one was asked for, and why if that is another.

    k-means++ takes two passes per seed over rows that come only in their order, k-means|| seven in
    all and is as good.
    """
    n_passes = 2 * (n_clusters - 1)
    if name != "k-means++" or isinstance(blocks, RowsByNumber) or n_passes <= _PARALLEL_PASSES:
        return name, None
    why = (
        f"k-means||: {_PARALLEL_PASSES} passes over rows that are not in memory, where k-means++ "
        f"would take {n_passes}"
    )
    return "k-means||", why


#: The seedings by the names `init=` takes.
SEEDINGS: dict[str, Callable[..., Seeds]] = {
    "k-means++": plusplus_rows,
    "random": random_rows,
    "random-labels": random_labels,
    "box": bounding_box,
    "farthest-first": farthest_first_from_any,
    "k-means||": kmeans_parallel,
}
