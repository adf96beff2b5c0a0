"""Where k-means starts: the seedings, one function each with one shared signature."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.centroid._passes import survey
from coterie.centroid._space import Space
from coterie.data import Blocks, as_blocks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Rows handled at a time where a pass needs scratch as wide as the rows.
_SLICE_ROWS = 4096
#: From how many candidates on a sketch of the rows pays for itself.
_SKETCH_CANDIDATES = 64
#: Columns a sketch can have.
_SKETCH_COLUMNS = 65536


@dataclass(frozen=True)
class Seeds:
    """Starting centres, (n_clusters, n_features), and the rows they are, if they are rows."""

    centers: Floats
    indices: Ints | None


class Cover(ABC):
    """How well the seeds so far cover the rows, kept up to date as seeds are added.

    Memory is 13 bytes a row, and with many candidates to compare one more a row and column; it is
    in unnamed temporary files when the rows are on disk themselves.
    Squared distances are in the frame's units, times ``space.scale**2``.

    Attributes
    ----------
    seeds
        Row indices of the seeds, in the order they came.
    closest, nearest
        Of each row, the squared distance to its nearest seed and that seed's number; ties go to
        the earlier seed.
    """

    def __init__(self, blocks: Blocks, space: Space) -> None:
        self.blocks = blocks
        self.scale = space.scale
        self.seeds: list[int] = []
        self.closest: Floats = _scratch(blocks, np.float64, blocks.n_rows)
        self.closest[:] = np.inf
        self.nearest: npt.NDArray[np.int32] = _scratch(blocks, np.int32, blocks.n_rows)

    @property
    @abstractmethod
    def potential(self) -> float:
        """Weighted sum of `closest`."""

    @abstractmethod
    def draw(self, quantiles: Floats) -> Ints:
        """The rows at these quantiles of weight times `closest`; needs a positive potential."""

    @abstractmethod
    def expect(self, n_candidates: int) -> None:
        """Prepare for the `gains` of so many rows in all, where that pays."""

    @abstractmethod
    def gains(self, row_ids: Ints) -> Floats:
        """By how much each row, made a seed, would lower the potential."""

    @abstractmethod
    def add(self, row_ids: Ints) -> None:
        """Make these rows seeds."""

    @abstractmethod
    def add_measured(self, row_ids: Ints, best: int) -> None:
        """Make ``row_ids[best]`` a seed, right after `gains` of `row_ids`."""


class DenseCover(Cover):
    """`Cover` of an array's rows.

    Rows that the triangle inequality or a quick distance proves to stay with their seed are
    skipped; the result is that of computing every distance. Where many candidates are expected,
    quick distances are those of a sketch, the rows rounded to one byte a column.
    """

    def __init__(self, blocks: Blocks, space: Space) -> None:
        super().__init__(blocks, space)
        self._hints: npt.NDArray[np.uint8] = _scratch(blocks, np.uint8, blocks.n_rows)
        self._totals = np.zeros(kernels.n_seeding_chunks(blocks.n_rows, blocks.n_cols))
        self._buffer = np.empty((16, blocks.n_cols))
        self._sketch: tuple[npt.NDArray[np.uint8], Floats, float, float] | None = None

    @property
    def potential(self) -> float:
        return float(np.cumsum(self._totals)[-1])

    @property
    def _centers(self) -> Floats:
        return self._buffer[: len(self.seeds)]

    def draw(self, quantiles: Floats) -> Ints:
        row_ids = np.empty(len(quantiles), dtype=np.int64)
        kernels.draw_rows(
            self.blocks.weights,
            self.closest,
            self._totals,
            self.blocks.n_cols,
            quantiles * self.potential,
            row_ids,
        )
        return row_ids

    def expect(self, n_candidates: int) -> None:
        blocks = self.blocks
        if n_candidates < _SKETCH_CANDIDATES or blocks.n_cols > _SKETCH_COLUMNS:
            return
        columns = blocks.total(survey)
        low = columns.min * self.scale
        widest = float(np.max(columns.max * self.scale - low))
        per_unit = 127 / widest if widest > 1e-30 else 0.0
        size = kernels.n_sketch_bytes(blocks.n_rows, blocks.n_cols)
        levels: npt.NDArray[np.uint8] = _scratch(blocks, np.uint8, size)
        args = (blocks.rows, self.scale, low, per_unit, levels, blocks.n_threads)
        self._sketch = levels, low, per_unit, kernels.sketch_rows(*args)

    def gains(self, row_ids: Ints) -> Floats:
        gains = np.empty(len(row_ids))
        kernels.measure_gains(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._sketch,
            self._centers,
            self.blocks.take(row_ids),
            self.closest,
            self.nearest,
            self._hints,
            gains,
            self.blocks.n_threads,
        )
        return gains

    def add(self, row_ids: Ints) -> None:
        n_old = len(self.seeds)
        self._append(row_ids)
        kernels.add_seeds(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._centers,
            n_old,
            self.closest,
            self.nearest,
            self._totals,
            self.blocks.n_threads,
        )

    def add_measured(self, row_ids: Ints, best: int) -> None:
        self._append(row_ids[best : best + 1])
        kernels.add_measured_seed(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._centers,
            best,
            self._hints,
            self.closest,
            self.nearest,
            self._totals,
            self.blocks.n_threads,
        )

    def _append(self, row_ids: Ints) -> None:
        n_old = len(self.seeds)
        self.seeds.extend(row_ids.tolist())
        if len(self.seeds) > len(self._buffer):
            spare = np.empty((len(self.seeds), self.blocks.n_cols))
            self._buffer = np.concatenate([self._buffer[:n_old], spare])
        self._centers[n_old:] = self.blocks.take(row_ids)


class SparseCover(Cover):
    """`Cover` of CSR rows, by |x|^2 - 2 x.c + |c|^2: every distance costs one sparse product.

    Differences too small for that form, relative to the rows' lengths, count as none. Holds the
    stored values once more, as float64.
    """

    def __init__(self, blocks: Blocks, space: Space) -> None:
        super().__init__(blocks, space)
        self._rows = blocks.rows.astype(np.float64) * space.scale
        self._sq_norms = np.asarray(self._rows.multiply(self._rows).sum(axis=1)).ravel()
        self._weights = np.ones(blocks.n_rows) if blocks.weights is None else blocks.weights

    @property
    def potential(self) -> float:
        return float(self._weights @ self.closest)

    def draw(self, quantiles: Floats) -> Ints:
        sums = np.cumsum(self._weights * self.closest)
        # Only rows that add something, even if a target is 0 or rounded beyond the end.
        targets = np.clip(quantiles * self.potential, np.finfo(np.float64).tiny, sums[-1])
        return np.asarray(np.searchsorted(sums, targets), dtype=np.int64)

    def expect(self, n_candidates: int) -> None:
        pass

    def gains(self, row_ids: Ints) -> Floats:
        return np.array([self._weights @ self._lowered_by(row) for row in row_ids])

    def add(self, row_ids: Ints) -> None:
        for row in row_ids.tolist():
            sq_dists = self._sq_dists(row)
            nearer = sq_dists < self.closest
            self.closest[nearer] = sq_dists[nearer]
            self.nearest[nearer] = len(self.seeds)
            self.seeds.append(row)

    def add_measured(self, row_ids: Ints, best: int) -> None:
        self.add(row_ids[best : best + 1])

    def _lowered_by(self, row: int) -> Floats:
        """How much nearer each row would get to its nearest seed with this one."""
        return np.maximum(self.closest - self._sq_dists(row), 0.0)

    def _sq_dists(self, row: int) -> Floats:
        """Squared distance of every row to this one."""
        seed = self._rows[[row]].toarray()[0]
        reach = self._sq_norms + self._sq_norms[row]
        sq_dists = np.asarray(reach - 2 * (self._rows @ seed))
        n_stored = np.diff(self._rows.indptr)
        noise = 4 * (n_stored + n_stored[row] + 4) * np.finfo(np.float64).eps * reach
        sq_dists[sq_dists <= noise] = 0.0
        return sq_dists


def cover_of(blocks: Blocks, space: Space) -> Cover:
    """A cover without seeds; see `Cover`."""
    return SparseCover(blocks, space) if blocks.sparse else DenseCover(blocks, space)


def _scratch(blocks: Blocks, dtype: npt.DTypeLike, size: int) -> npt.NDArray[Any]:
    """So many zeros, on disk if the rows are."""
    if blocks.in_memory:
        return np.zeros(size, dtype=dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))


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


def _grow(cover: Cover, n_seeds: int, rng: np.random.RandomState, n_trials: int) -> None:
    """Add seeds by D^2 sampling, each the best of `n_trials` draws, until there are `n_seeds`."""
    if n_trials > 1:
        cover.expect(n_trials * (n_seeds - len(cover.seeds)))
    while len(cover.seeds) < n_seeds:
        quantiles = rng.uniform(size=n_trials)
        if cover.potential == 0:  # every row with weight is a seed or the copy of one
            missing = n_seeds - len(cover.seeds)
            cover.add(_unused_rows(cover.blocks, np.array(cover.seeds), missing, rng))
            return
        row_ids = cover.draw(quantiles)
        if n_trials == 1:
            cover.add(row_ids)
        else:
            cover.add_measured(row_ids, int(np.argmax(cover.gains(row_ids))))


def _trials(n_local_trials: int | None, n_clusters: int) -> int:
    """scikit-learn's number of trials unless one is given."""
    return 2 + int(np.log(n_clusters)) if n_local_trials is None else n_local_trials


def _rows_as_seeds(blocks: Blocks, row_ids: npt.ArrayLike) -> Seeds:
    indices = np.asarray(row_ids, dtype=np.int64)
    return Seeds(blocks.take(indices), indices)


def kmeans_plusplus(
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
    draws are scikit-learn's for the same random state. Costs at most O(n_rows * n_clusters *
    n_features) a trial, much less on clustered rows, and the memory of a `Cover`.

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
    cover = cover_of(blocks, space)
    cover.add(_pick_rows(blocks, 1, rng))
    _grow(cover, n_clusters, rng, _trials(n_local_trials, n_clusters))
    return _rows_as_seeds(blocks, cover.seeds)


def random_rows(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """Pick distinct rows at random (Forgy 1965), with probability proportional to weight.

    The draws are scikit-learn's for the same random state. Parameters as in `kmeans_plusplus`.
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
    starts from a random row. Costs one pass over the rows. Parameters as in `kmeans_plusplus`.
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
    Costs one pass over the rows. Parameters as in `kmeans_plusplus`.
    """
    columns = blocks.total(survey)
    share = rng.uniform(size=(n_clusters, blocks.n_cols))
    return Seeds(columns.min * (1 - share) + columns.max * share, None)


def farthest_first(blocks: Blocks, space: Space, n_clusters: int, *, first: int) -> Seeds:
    """Take, again and again, the row farthest from all rows taken; ties go to the lower row.

    Gonzalez (1985): the largest distance left is at most twice that of the best choice of rows.
    Costs as in `kmeans_plusplus` with one trial.

    Parameters
    ----------
    blocks, space, n_clusters
        As in `kmeans_plusplus`; weights matter only in being zero or not.
    first
        The row to begin with.
    """
    cover = cover_of(blocks, space)
    cover.add(np.array([first]))
    while len(cover.seeds) < n_clusters:
        cover.add(np.array([_farthest_row(cover)]))
    return _rows_as_seeds(blocks, cover.seeds)


def _farthest_row(cover: Cover) -> int:
    """The row farthest from its nearest seed; when only copies of seeds are left, an unused one."""
    weights = cover.blocks.weights
    sq_dists = cover.closest if weights is None else np.where(weights > 0, cover.closest, 0.0)
    farthest = int(np.argmax(sq_dists))
    if sq_dists[farthest] > 0:
        return farthest
    free = np.ones(cover.blocks.n_rows) if weights is None else 1.0 + (weights > 0)
    free[cover.seeds] = 0.0
    return int(np.argmax(free))


def farthest_first_from_any(
    blocks: Blocks,
    space: Space,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_local_trials: int | None = None,
) -> Seeds:
    """`farthest_first` from a random row. Parameters as in `kmeans_plusplus`."""
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
    each, are then seeded by `kmeans_plusplus`. Takes 6 passes over the rows instead of n_clusters,
    and about 10 n_clusters distances a row where nothing can be skipped. Parameters as there.
    """
    cover = cover_of(blocks, space)
    cover.add(_pick_rows(blocks, 1, rng))
    for _ in range(5):
        potential = cover.potential
        if potential == 0:
            break
        cover.add(_oversample(cover, 2 * n_clusters / potential, rng))
    _grow(cover, n_clusters, rng, 1)  # rarely, so few rows were drawn
    drawn = np.array(cover.seeds)
    weights = _covered_weights(cover)
    candidates = as_blocks(blocks.rows[drawn], weights, blocks.n_threads)
    seeds = kmeans_plusplus(candidates, space, n_clusters, rng, n_local_trials=n_local_trials)
    assert seeds.indices is not None
    return Seeds(seeds.centers, drawn[seeds.indices])


def _oversample(cover: Cover, factor: float, rng: np.random.RandomState) -> Ints:
    """Each row on its own, with probability ``factor * weight * closest``."""
    weights = cover.blocks.weights
    taken = []
    for start in range(0, cover.blocks.n_rows, _SLICE_ROWS):
        share = cover.closest[start : start + _SLICE_ROWS] * factor
        if weights is not None:
            share = share * weights[start : start + _SLICE_ROWS]
        taken.append(start + np.flatnonzero(rng.random_sample(len(share)) < share))
    return np.concatenate(taken)


def _covered_weights(cover: Cover) -> Floats:
    """The weight of the rows nearest to each seed."""
    total = np.zeros(len(cover.seeds))
    weights = cover.blocks.weights
    for start in range(0, cover.blocks.n_rows, _SLICE_ROWS):
        here = slice(start, start + _SLICE_ROWS)
        counted = None if weights is None else weights[here]
        total += np.bincount(cover.nearest[here], counted, minlength=len(total))
    return total


#: The seedings by the names `init=` takes.
SEEDINGS: dict[str, Callable[..., Seeds]] = {
    "k-means++": kmeans_plusplus,
    "random": random_rows,
    "random-labels": random_labels,
    "box": bounding_box,
    "farthest-first": farthest_first_from_any,
    "k-means||": kmeans_parallel,
}
