"""The ways to carry out an assignment, and how to choose among them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._lloyd import PlainStep, Tally

Floats = npt.NDArray[np.float64]

#: Bounds are 16-bit codes that grow with the distance; see cpp/include/coterie/packed_bounds.hpp.
_NOTHING, _EVERYTHING = 0, np.iinfo(np.uint16).max


class HamerlyStep(PlainStep):
    """Assignment that proves most labels unchanged by two bounds a row.

    Memory: 4 bytes a row beside the tally. Needs dense rows in memory.
    """

    n_groups = 1

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        super().__init__(tally, recorder)
        n_rows, n_clusters = tally.blocks.n_rows, tally.sums.shape[1]
        self.upper = np.empty(n_rows, dtype=np.uint16)
        self.lower = np.full((self.n_groups, n_rows), _EVERYTHING, dtype=np.uint16)
        self.radius = np.zeros(n_clusters, dtype=np.float32)
        self.before: Floats | None = None
        self.n_passes = 0
        self.order: npt.NDArray[np.int32] | None = None

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        tally, space = self.tally, self.tally.space
        if self.order is None:
            self.order = neighbourly_order(centers)
        (block,) = tally.blocks
        weights = None if block.weights is None else block.weights / space.weight_unit
        drifts = None
        if self.before is not None:
            with np.errstate(over="ignore"):  # given centres, far beyond all rows
                drifts = np.linalg.norm((centers - self.before) * space.scale, axis=1)
            self.before = None  # a copy of the centres less while rows are looked at
        n_changed, self.n_scanned = kernels.assign_bounded(
            block.rows, weights, centers, drifts, self.order,
            space.scale, space.shift, space.step_inverse, space.origin, space.weight_step_inverse,
            tally.labels, self.upper, self.lower, self.radius, self.n_passes % 4 == 0,
            tally.sums, tally.weight_sums,
            block.n_threads,
        )  # fmt: skip
        self.before = centers
        self.n_passes += 1
        return int(n_changed)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand: their bounds are void."""
        self.upper[rows], self.lower[:, rows] = _EVERYTHING, _NOTHING
        self.radius[self.tally.labels[rows]] = np.inf


class YinyangStep(HamerlyStep):
    """Assignment with a lower bound for each of eight groups of centres.

    Memory: 18 bytes a row beside the tally. Pays off where there are many centres and little
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


class AutoStep(PlainStep):
    """Assignment that chooses between the plain one and bounds by the shape and by what changes.

    Few and narrow centres are quickest to scan plainly, always (`tiny`) or while many labels still
    change (`small`); otherwise bounds pay from the start, since a bounded pass that would prove
    little scans plainly by itself. Only counts decide, never a clock.
    """

    #: Multiply-adds a row, and the share of changing labels below which bounds begin to pay.
    tiny, small, calm = 300, 2000, 0.02
    #: Bounds on few and narrow centres are dropped when they leave more than this share of rows.
    worth = 0.45

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        super().__init__(tally, recorder)
        self.recorder = recorder
        n_clusters, n_cols = tally.sums.shape[1:]
        self.work = n_clusters * (n_cols + 5)
        self.step: PlainStep
        self.next: tuple[str, str] | None
        if self.work < self.tiny:
            self.next = "lloyd", "so few multiply-adds a row that bounds would not pay"
        elif self.work < self.small:
            self.next = "lloyd", f"until at most {self.calm:.0%} of the labels change"
        else:
            self.next = "hamerly", "enough multiply-adds a row for bounds to pay"

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        if self.next is not None:
            self._take(*self.next)
        n_changed = self.step.assign(centers)
        self.n_scanned = self.step.n_scanned
        n_rows = self.tally.blocks.n_rows
        self.next = None
        if self.tiny <= self.work < self.small:
            self.next = self._reconsider(n_changed / n_rows, self.n_scanned / n_rows)
        return n_changed

    def finish(self, centers: Floats) -> None:
        """The last assignment, with whatever the last iteration used."""
        self.step.assign(centers)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand."""
        self.step.forget(rows)

    def _reconsider(self, changed: float, scanned: float) -> tuple[str, str] | None:
        """What to go on with and why, from the shares of rows that changed and were scanned."""
        if not isinstance(self.step, HamerlyStep):
            if changed > self.calm:
                return None
            return "hamerly", f"only {changed:.2%} of the labels changed"
        if self.step.n_passes == 1 or scanned <= self.worth:
            return None
        self.calm = changed / 4
        return "lloyd", f"bounds left {scanned:.0%} of the rows; until {self.calm:.2%} change"

    def _take(self, name: str, why: str) -> None:
        self.step = ALGORITHMS[name](self.tally, self.recorder)
        n_done = len(self.recorder.history)
        self.recorder.event(
            "algorithm", f"{name}: {why}", where=name, iteration=n_done + 1 if n_done else None
        )


ALGORITHMS: dict[str, type[PlainStep]] = {
    "auto": AutoStep,
    "lloyd": PlainStep,
    "hamerly": HamerlyStep,
    "yinyang": YinyangStep,
    "elkan": YinyangStep,
}


def choose_step(algorithm: str, tally: Tally, recorder: Recorder) -> PlainStep:
    """The step for `algorithm`; rows that are sparse or left on disk are always scanned plainly."""
    if algorithm != "lloyd" and (tally.blocks.sparse or not tally.blocks.in_memory):
        lie = "sparse" if tally.blocks.sparse else "left on disk"
        why = f"lloyd: rows are {lie}, which bounds do not serve"
        recorder.event("algorithm", why, where="lloyd")
        return PlainStep(tally, recorder)
    return ALGORITHMS[algorithm](tally, recorder)
