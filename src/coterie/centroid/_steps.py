"""The ways to carry out an assignment, and how to choose among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt

from coterie._config import has_spare
from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.centroid._kept import KeptTally
from coterie.centroid._passes import unit_weights
from coterie.centroid._remembered import RememberedTally
from coterie.centroid._space import Space
from coterie.centroid._streamed import StreamedTally
from coterie.centroid._tally import Tally
from coterie.data import ArraySource, Source

Floats = npt.NDArray[np.float64]

#: Bounds are 16-bit codes that grow with the distance; see centroid/packed_bounds.hpp.
_NOTHING, _EVERYTHING = 0, np.iinfo(np.uint16).max

#: Multiply-adds per row below which bounds never pay, and from which on they always do.
_TINY, _SMALL = 300, 4000
#: Between the two they pay if they leave at most this share of the rows, and as much again for so
#: many multiply-adds per row: a row that is left costs as much as several in a plain scan.
_WORTH, _WORK_OF_A_SHARE = 0.03, 8000
#: How many rows bounds leave, roughly, for each that changed its label in the pass before.
_LEFT_BY_A_CHANGE = 12

#: Bytes of a label; those of the best run so far are held while the next is made.
_LABEL_BYTES = 2 * 4


class PlainStep:
    """Assignment that looks at every row and every centre; keeps nothing but the tally."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        #: Rows whose label changed in the last assignment (None: nobody knows what they were), and
        #: for which all centres were scanned.
        self.n_changed: int | None = 0
        self.n_scanned = 0

    def assign(self, centers: Floats) -> int | None:
        """Label every row by its nearest centre; how many labels changed, where that is known."""
        self.n_changed = self.tally.assign(centers)
        self.n_scanned = self.tally.blocks.n_rows
        return self.n_changed

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Rows were moved by hand; nothing was remembered of them."""


@dataclass
class Bounds:
    """What is remembered of the last pass: bounds of each row, the radius of each cluster.

    `drifts` is how far each centre moved since, in the frame; None before the first pass. Radii
    are measured anew with `fresh_radius`, and only grow otherwise. Centres stand in `order`.
    """

    upper: npt.NDArray[np.uint16]
    lower: npt.NDArray[np.uint16]
    radius: npt.NDArray[np.float32]
    order: npt.NDArray[np.int32] | None = None
    drifts: Floats | None = None
    fresh_radius: bool = True


class HamerlyStep(PlainStep):
    """Assignment that proves most labels unchanged by two bounds per row.

    Memory: 4 bytes per row beside the tally. Needs dense rows in memory.
    """

    n_groups = 1
    tally: KeptTally

    def __init__(self, tally: KeptTally) -> None:
        super().__init__(tally)
        n_rows, n_clusters = tally.blocks.n_rows, tally.sums.shape[1]
        self.bounds = Bounds(
            upper=np.empty(n_rows, dtype=np.uint16),
            lower=np.full((self.n_groups, n_rows), _EVERYTHING, dtype=np.uint16),
            radius=np.zeros(n_clusters, dtype=np.float32),
        )
        self.before: Floats | None = None
        self.n_passes = 0

    def assign(self, centers: Floats) -> int:
        """Label every row by its nearest centre; how many labels changed."""
        tally, space, bounds = self.tally, self.tally.space, self.bounds
        if bounds.order is None:
            bounds.order = neighbourly_order(centers)
        block = tally.block
        weights = unit_weights(block, space)
        bounds.drifts = None
        if self.before is not None:
            with np.errstate(over="ignore"):  # given centres, far beyond all rows
                bounds.drifts = np.linalg.norm((centers - self.before) * space.scale, axis=1)
            self.before = None  # a copy of the centres less while rows are looked at
        bounds.fresh_radius = self.n_passes % 4 == 0
        self.n_changed, self.n_scanned = kernels.assign_bounded(
            block.rows, weights, centers, space, tally.labels, tally, bounds, block.n_threads
        )
        self.before = centers
        self.n_passes += 1
        return self.n_changed

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows were moved by hand: their bounds are void."""
        self.bounds.upper[rows], self.bounds.lower[:, rows] = _EVERYTHING, _NOTHING
        self.bounds.radius[self.tally.labels[rows]] = np.inf


class YinyangStep(HamerlyStep):
    """Assignment with a lower bound for each of eight groups of centres.

    Memory: 18 bytes per row beside the tally. Pays off where there are many centres and little
    structure, so that some centre somewhere is always on the move.
    """

    n_groups = 8


def neighbourly_order(centers: Floats) -> npt.NDArray[np.int32]:
    """An order in which centres that lie together stand together.

    Halves the centres again and again along the column of widest range, as a kd-tree does.
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


def auto(tally: KeptTally, recorder: Recorder) -> Iterator[PlainStep]:
    """Steps that scan plainly or keep bounds, by the shape of the problem and by what changes.

    Few and narrow centres are quickest to scan plainly, always (`_TINY`) or while many labels still
    change (`_SMALL`); otherwise bounds pay from the start, since a bounded pass that would prove
    little scans plainly by itself. Only counts decide, never a clock.
    """

    def take(name: str, why: str) -> PlainStep:
        n_done = len(recorder.history)
        recorder.event(
            "algorithm", f"{name}: {why}", where=name, iteration=n_done + 1 if n_done else None
        )
        return _STEPS[name](tally)

    n_rows = tally.blocks.n_rows
    n_clusters, n_cols = tally.sums.shape[1:]
    work = n_clusters * (n_cols + 5)
    worth = _WORTH + work / _WORK_OF_A_SHARE
    calm = worth / _LEFT_BY_A_CHANGE
    if work < _TINY:
        step = take("lloyd", "so few multiply-adds per row that bounds would not pay")
    elif work < _SMALL:
        step = take("lloyd", f"until at most {calm:.1%} of the labels change")
    else:
        step = take("hamerly", "enough multiply-adds per row for bounds to pay")
    while True:
        yield step
        if not _TINY <= work < _SMALL:
            continue
        changed, scanned = (step.n_changed or 0) / n_rows, step.n_scanned / n_rows
        if not isinstance(step, HamerlyStep):
            if changed <= calm:
                step = take("hamerly", f"only {changed:.2%} of the labels changed")
        elif step.n_passes > 1 and scanned > worth:
            calm = changed / 4
            step = take("lloyd", f"bounds left {scanned:.0%} of the rows; until {calm:.2%} change")


_STEPS: dict[str, Callable[[KeptTally], PlainStep]] = {
    "lloyd": PlainStep,
    "hamerly": HamerlyStep,
    "yinyang": YinyangStep,
    "elkan": YinyangStep,
}

#: The names `algorithm=` takes.
ALGORITHMS = ("auto", *_STEPS)


def choose_steps(
    algorithm: str, blocks: Source, space: Space, n_clusters: int, recorder: Recorder
) -> Iterator[PlainStep]:
    """A step for each iteration, by `algorithm`; rows that are sparse or not in memory are always
    scanned plainly.
    """
    if isinstance(blocks, ArraySource) and not blocks.sparse:
        tally = KeptTally(blocks, space, n_clusters)
        return auto(tally, recorder) if algorithm == "auto" else repeat(_STEPS[algorithm](tally))
    if algorithm != "lloyd":
        lie = "sparse" if blocks.in_memory else "not in memory"
        why = f"lloyd: rows are {lie}, which bounds do not serve"
        recorder.event("algorithm", why, where="lloyd")
    return repeat(PlainStep(new_tally(blocks, space, n_clusters)))


def new_tally(blocks: Source, space: Space, n_clusters: int) -> Tally:
    """A tally of no row yet, by where the rows are."""
    if isinstance(blocks, ArraySource):
        return KeptTally(blocks, space, n_clusters)
    if not blocks.remote and has_spare(_LABEL_BYTES * blocks.n_rows):
        return RememberedTally(blocks, space, n_clusters)
    return StreamedTally(blocks, space, n_clusters)
