"""The ways to carry out an assignment, and how to choose among them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._lloyd import PlainStep, Tally

Floats = npt.NDArray[np.float64]


class HamerlyStep(PlainStep):
    """Assignment that proves most labels unchanged by two bounds a row.

    Memory: 8 bytes a row beside the tally. Needs dense rows in memory.
    """

    n_groups = 1

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        super().__init__(tally, recorder)
        n_rows, n_clusters = tally.blocks.n_rows, tally.weight_sums.size
        self.upper = np.empty(n_rows, dtype=np.float32)
        self.lower = np.full((n_rows, self.n_groups), np.inf, dtype=np.float32)
        self.radius = np.zeros(n_clusters, dtype=np.float32)
        self.before: Floats | None = None
        self.order: npt.NDArray[np.int32] | None = None

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        tally, space = self.tally, self.tally.space
        if self.order is None:
            self.order = neighbourly_order(centers)
        (block,) = tally.blocks
        weights = None if block.weights is None else block.weights / space.weight_unit
        n_changed, self.n_scanned = kernels.assign_bounded(
            block.rows, weights, centers, self.before, self.order,
            space.scale, space.shift, space.step_inverse, space.origin, space.weight_step_inverse,
            tally.labels, self.upper, self.lower, self.radius, tally.sums, tally.weight_sums,
            block.n_threads,
        )  # fmt: skip
        self.before = centers.copy()
        return int(n_changed)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand: their bounds are void."""
        self.upper[rows] = np.inf
        self.lower[rows] = -np.inf
        self.radius[self.tally.labels[rows]] = np.inf


class YinyangStep(HamerlyStep):
    """Assignment with a lower bound for each of eight groups of centres.

    Memory: 36 bytes a row beside the tally. Pays off where there are many centres and little
    structure, so that some centre somewhere is always on the move.
    """

    n_groups = 8


def neighbourly_order(centers: Floats) -> npt.NDArray[np.int32]:
    """An order in which centres that lie together stand together.

    Halves the centres again and again along the column they spread most in, as a kd-tree does.
    """
    pieces = [np.arange(centers.shape[0])]
    while max(piece.size for piece in pieces) > 4:
        halved = []
        for piece in pieces:
            if piece.size <= 4:
                halved.append(piece)
                continue
            values = centers[piece]
            widest = int(np.argmax(np.ptp(values, axis=0)))
            ranked = piece[np.argsort(values[:, widest], kind="stable")]
            halved += [ranked[: ranked.size // 2], ranked[ranked.size // 2 :]]
        pieces = halved
    return np.concatenate(pieces).astype(np.int32)


ALGORITHMS = {
    "lloyd": PlainStep,
    "hamerly": HamerlyStep,
    "yinyang": YinyangStep,
    "elkan": YinyangStep,
}


def choose_step(algorithm: str, tally: Tally, recorder: Recorder) -> PlainStep:
    """The step for `algorithm`; "auto" and what cannot be pruned are noted as events."""
    return ALGORITHMS["lloyd" if algorithm == "auto" else algorithm](tally, recorder)
