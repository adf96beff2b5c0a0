"""Learning a codebook: k-means whose start was itself found by k-means, on fewer rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._restarts import recorders
from coterie.centroid._checked_space import checked_space
from coterie.centroid._fitted import Fitted, label_any
from coterie.centroid._kmeans import kmeans
from coterie.centroid._lloyd import LloydRun
from coterie.centroid._space import Space
from coterie.data import ArraySource, Source

Floats = npt.NDArray[np.float64]


def learn_from_coarse(
    who: str,
    blocks: ArraySource,
    n_codewords: int,
    rng: np.random.RandomState,
    *,
    n_init: int,
    n_coarse: int,
    max_iter: int = 300,
    tol: float = 1e-5,
) -> LloydRun:
    """k-means on all rows from the best of some starts on `n_coarse` of them.

    The descent on all rows ends as Lloyd's does, where no row changes or the centres hardly move;
    it is short, since it begins near its end. Restarts cost as much as the coarse rows do.

    Parameters
    ----------
    who
        The function that asks.
    blocks
        Rows in memory, with their weights.
    n_codewords
        How many centres.
    rng
        Where the coarse rows and the starts come from.
    n_init
        Starts, of which the one with the lowest SSE on the coarse rows is kept.
    n_coarse
        How many rows to draw by weight; where there are no more, they are all taken.
    max_iter, tol
        Of every descent: at most so many passes, until the summed squared move of the centres is
        at most `tol` times the mean variance of the columns.
    """
    columns, space = checked_space(who, blocks)
    tol = tol * float(columns.variance.mean())
    if blocks.n_rows <= n_coarse:
        runs = recorders(n_init, max_iter)
        return kmeans(blocks, space, n_codewords, rng, max_iter=max_iter, tol=tol, runs=runs)

    def start(
        blocks: Source,
        space: Space,
        n_clusters: int,
        rng: np.random.RandomState,
        recorder: Recorder | None = None,
    ) -> Floats:
        coarse = blocks.pick(draw_by_weight(blocks, n_coarse, rng)).weighted(None)
        _, own = checked_space(who, coarse)
        runs = recorders(n_init, max_iter)
        found = kmeans(coarse, own, n_clusters, rng, max_iter=max_iter, tol=tol, runs=runs)
        return found.centers

    return kmeans(blocks, space, n_codewords, rng, start=start, max_iter=max_iter, tol=tol)


def draw_by_weight(
    blocks: Source, n_drawn: int, rng: np.random.RandomState
) -> npt.NDArray[np.intp]:
    """Numbers of rows, each as often as its share of the weight says, up to one time.

    Systematic sampling: equal steps through the summed weights from a random beginning. Rows that
    stand together (colours, sorted) are drawn evenly, which no independent draws are.
    """
    places = (np.arange(n_drawn) + rng.uniform()) / n_drawn
    if blocks.weights is None:
        return np.minimum((places * blocks.n_rows).astype(np.intp), blocks.n_rows - 1)
    summed = np.cumsum(blocks.weights)
    found = np.searchsorted(summed, places * summed[-1], side="right")
    return np.minimum(found, blocks.n_rows - 1)


def nearest_codewords(
    who: str, rows: npt.NDArray[np.floating], codebook: Floats, n_threads: int
) -> npt.NDArray[np.int32]:
    """The nearest codeword of every row; ties go to the lower index."""
    blocks = ArraySource(rows, None, n_threads)
    return blocks.map(label_any, Fitted(who, codebook), dtype=np.int32)
