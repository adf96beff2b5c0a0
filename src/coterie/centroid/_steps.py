"""The ways to carry out an assignment, and how to choose among them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._lloyd import PlainStep, Tally

Floats = npt.NDArray[np.float64]

#: A bound that says nothing; finite, so that sums of bounds stay numbers.
_LONGEST = np.finfo(np.float32).max / 8


class HamerlyStep(PlainStep):
    """Assignment that proves most labels unchanged by two bounds a row.

    Memory: 8 bytes a row beside the tally. Needs dense rows in memory.
    """

    n_groups = 1

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        super().__init__(tally, recorder)
        n_rows, n_clusters = tally.blocks.n_rows, tally.sums.shape[1]
        self.upper = np.empty(n_rows, dtype=np.float32)
        self.lower = np.full((self.n_groups, n_rows), _LONGEST, dtype=np.float32)
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
        n_changed, self.n_scanned = kernels.assign_bounded(
            block.rows, weights, centers, self.before, self.order,
            space.scale, space.shift, space.step_inverse, space.origin, space.weight_step_inverse,
            tally.labels, self.upper, self.lower, self.radius, self.n_passes % 4 == 0,
            tally.sums, tally.weight_sums,
            block.n_threads,
        )  # fmt: skip
        self.before = centers.copy()
        self.n_passes += 1
        return int(n_changed)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand: their bounds are void."""
        self.upper[rows] = np.finfo(np.float32).max / 4  # finite: inf - inf would be no bound
        self.lower[:, rows] = -_LONGEST
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


class AutoStep(PlainStep):
    """Assignment that chooses among the others as it goes, by what was pruned so far.

    Few and narrow centres are quickest to scan plainly. Otherwise bounds are tried; where they
    prove next to nothing, rows are scanned plainly until few labels change, and then the bounds
    are tried again, with groups if there are many centres. Only counts decide, never a clock.
    """

    #: Multiply-adds a row below which bounds cost more than they save, ever or at first.
    tiny, small = 300, 2000
    #: Centres from which groups are worth their memory.
    many = 64

    def __init__(self, tally: Tally, recorder: Recorder) -> None:
        super().__init__(tally, recorder)
        self.recorder = recorder
        n_clusters, n_cols = tally.sums.shape[1:]
        self.work = n_clusters * (n_cols + 5)
        #: Bounds are tried once at most this share of the labels changes.
        self.calm = 0.02 if self.work < self.small else 1.0
        #: Bounds are given up when more than this share of the rows is scanned all the same.
        self.worth = 0.3 if self.work < self.small else 0.95
        self.step: PlainStep
        self.next: tuple[str, str] | None
        if self.work < self.tiny:
            self.next = "lloyd", "so few multiply-adds a row that bounds would not pay"
        elif self.work < self.small:
            self.next = "lloyd", f"until at most {self.calm:.0%} of the labels change"
        else:
            self.next = "hamerly", "first choice at this shape"

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        if self.next is not None:
            self._take(*self.next)
        n_changed = self.step.assign(centers)
        self.n_scanned = self.step.n_scanned
        self.next = self._reconsider(n_changed / self.tally.blocks.n_rows)
        return n_changed

    def finish(self, centers: Floats) -> None:
        """The last assignment, with whatever the last iteration used."""
        self.step.assign(centers)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand."""
        self.step.forget(rows)

    def _reconsider(self, changed: float) -> tuple[str, str] | None:
        """The algorithm to go on with and why, from the share of labels that changed just now."""
        if self.work < self.tiny:
            return None
        if isinstance(self.step, HamerlyStep):
            if self.step.n_passes == 1 or self.n_scanned <= self.worth * self.tally.blocks.n_rows:
                return None
            self.calm = min(0.012, changed / 2)
            why = f"bounds left {self.worth:.0%} of the rows; until {self.calm:.2%} change"
            return "lloyd", why
        if changed > self.calm:
            return None
        many = self.tally.sums.shape[1] >= self.many and self.work >= self.small
        return "yinyang" if many else "hamerly", f"only {changed:.2%} of the labels changed"

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
