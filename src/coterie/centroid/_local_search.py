"""Local search for seeds: swap a seed for a better row while that lowers the SSE."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie.centroid._space import Space
from coterie.data import ArraySource

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Swaps:
    """Some rows with their nearest and second nearest seed, kept up to date as seeds are swapped.

    Distances are the expanded form in the frame's coordinates: what they decide is a heuristic's
    choice, never a label. Sums have a fixed order, so the choice does not depend on threads.
    """

    def __init__(self, blocks: ArraySource, space: Space, centers: Floats) -> None:
        rows = blocks.rows.astype(np.float64) * space.scale
        self.rows = rows.tocsr() if blocks.sparse else rows - space.shift
        self.sq_norms = np.asarray(
            rows.multiply(rows).sum(axis=1)
            if blocks.sparse
            else np.einsum("ij,ij->i", self.rows, self.rows)
        ).ravel()
        self.weights = np.ones(blocks.n_rows) if blocks.weights is None else blocks.weights
        self.seeds = centers * space.scale - space.shift
        n = blocks.n_rows
        self.nearest, self.second = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.sq_nearest, self.sq_second = np.zeros(n), np.zeros(n)
        self._look_again(np.arange(n))

    def _sq_dists(self, row_ids: Ints | slice, seeds: Floats) -> Floats:
        rows = self.rows[row_ids]
        dot = rows @ seeds.T if sp.issparse(rows) else np.einsum("ij,kj->ik", rows, seeds)
        sq_norms = np.einsum("ij,ij->i", seeds, seeds)
        return np.maximum(self.sq_norms[row_ids, np.newaxis] + sq_norms - 2 * dot, 0.0)

    def _look_again(self, row_ids: Ints) -> None:
        """Find the two nearest seeds of these rows, a slice at a time."""
        for start in range(0, row_ids.size, 1024):
            ids = row_ids[start : start + 1024]
            sq_dists = self._sq_dists(ids, self.seeds)
            at = np.arange(ids.size)
            self.nearest[ids] = sq_dists.argmin(axis=1)
            self.sq_nearest[ids] = sq_dists[at, self.nearest[ids]]
            sq_dists[at, self.nearest[ids]] = np.inf
            self.second[ids] = sq_dists.argmin(axis=1)
            self.sq_second[ids] = sq_dists[at, self.second[ids]]

    def try_one(self, rng: np.random.RandomState) -> tuple[int, int] | None:
        """Draw a row as k-means++ would and put it in place of the seed that is missed least.

        Returns that row and that seed, or None where it would not lower the SSE.
        """
        shares = np.cumsum(self.weights * self.sq_nearest)
        quantile = rng.random_sample() * shares[-1]
        row = min(int(np.searchsorted(shares, quantile, side="right")), shares.size - 1)
        seed = self.rows[[row]]
        seed = seed.toarray() if sp.issparse(seed) else seed
        sq_new = self._sq_dists(slice(None), seed)[:, 0]
        with_both = np.minimum(self.sq_nearest, sq_new)
        # Without its nearest seed a row goes to the second nearest or to the new one.
        loss = self.weights * (np.minimum(self.sq_second, sq_new) - with_both)
        losses = np.bincount(self.nearest, loss, minlength=len(self.seeds))
        gain = float((self.weights * (self.sq_nearest - with_both)).sum())
        out = int(losses.argmin())
        if losses[out] >= gain:
            return None
        self._swap(out, seed[0], sq_new)
        return row, out

    def _swap(self, out: int, seed: Floats, sq_new: Floats) -> None:
        self.seeds[out] = seed
        lost = (self.nearest == out) | (self.second == out)
        closer = ~lost & (sq_new < self.sq_nearest)
        between = ~lost & ~closer & (sq_new < self.sq_second)
        self.second[closer], self.sq_second[closer] = self.nearest[closer], self.sq_nearest[closer]
        self.nearest[closer], self.sq_nearest[closer] = out, sq_new[closer]
        self.second[between], self.sq_second[between] = out, sq_new[between]
        self._look_again(np.flatnonzero(lost))


def improve_seeds(
    blocks: ArraySource, space: Space, centers: Floats, rng: np.random.RandomState, *, n_tries: int
) -> Floats:
    """Swap seeds for rows of `blocks` where that lowers the SSE.

    Lattanzi and Sohler (2019): each try draws a row in proportion to its squared distance from
    the seeds and puts it in place of the seed that is missed least, if the SSE gets lower. Finds
    clusters that k-means++ left without a seed. Time O(n_rows * n_features) a try, memory that
    of the rows in float64: meant for a sample.

    Parameters
    ----------
    blocks, space
        The rows, and the coordinates to compute in.
    centers
        Seeds, shape (n_clusters, n_features) with at least 2 clusters; not modified.
    rng
        Source of the draws.
    n_tries
        Rows to try.

    Returns
    -------
    centers
        Seeds whose SSE on these rows is not higher, in the same order but for those swapped.
    """
    swaps = Swaps(blocks, space, centers)
    better = centers.copy()
    for _ in range(n_tries):
        swap = swaps.try_one(rng)
        if swap is not None:
            row, out = swap
            better[out] = blocks.take([row])[0]
    return better
