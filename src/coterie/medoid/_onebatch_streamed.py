"""OneBatchPAM over rows that come by, block after block, and need not fit into memory.

The same swaps as in memory, in the same order: a search over the rows of one block goes on from
the medoids that those before it left, which stand first among its candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._doors import check_finite, dense
from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.data import Block, Source
from coterie.distance import Metric
from coterie.medoid._find import METHODS, Asked, best_run, say_approximate
from coterie.medoid._given import given_indices, nearest_to_given
from coterie.medoid._nearest import check_total, total_of
from coterie.medoid._onebatch import batch_size, count_nearest, draw_rows
from coterie.medoid._pairs import lost, measured, prepared_rows
from coterie.medoid._starts import STARTS, Field
from coterie.medoid._swap import MedoidRun, note, swaps_at_once

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """Sampled rows by number and as they are compared, and the weight that each stands for."""

    who: str
    metric: Metric
    ids: Ids
    rows: npt.NDArray[Any]
    weights: Floats | None = None

    def search(
        self,
        candidates: npt.NDArray[Any],
        allowed: npt.NDArray[np.bool_] | None,
        n_threads: int,
    ) -> kernels.Medoids:
        """A search with these candidates over the sampled rows."""
        return measured(
            self.who, self.metric, candidates, self.rows, self.weights, allowed, n_threads
        )

    def prepared(self, block: Block) -> npt.NDArray[Any]:
        """The rows of a block as they are compared."""
        return prepared_rows(self.metric, dense(self.who, block.rows))


def weigh_sample(block: Block, sample: Sample) -> Floats:
    """How much those rows of a block weigh that each sampled row is the nearest of."""
    if sample.metric.name != "nan_euclidean":
        check_finite(sample.who, block.rows)
    search = sample.search(sample.prepared(block), None, block.n_threads)
    n_sampled = sample.rows.shape[0]
    return count_nearest(search, block.n_rows, block.weights, n_sampled, block.n_threads)


def find_in_stream(
    who: str, blocks: Source, metric: Metric, asked: Asked, rng: np.random.RandomState
) -> tuple[MedoidRun, Recorder]:
    """The medoids of rows wherever they live, for a sample of them, and the record of the run.

    de Mathelin, Deheeger, Mougeot & Vayatis (2025), "OneBatchPAM". A pass for the sample, one for
    its weights, and one for each round of swaps. Memory: the sample and a block.
    """
    n_rows, n_threads = blocks.n_rows, blocks.n_threads
    allowed = None if blocks.weights is None else blocks.weights > 0
    size = batch_size(n_rows, asked.n_clusters, asked.batch_size)
    ids = draw_rows(n_rows, allowed, size, rng)
    sample = Sample(who, metric, ids, _picked(blocks, metric, who, ids))
    sample = replace(sample, weights=blocks.total(weigh_sample, sample))
    among = sample.search(sample.rows, None, n_threads)
    sampled = Field(among, ids.size, sample.weights, None, n_threads)
    complete = ids.size == (n_rows if allowed is None else int(allowed.sum()))

    def start() -> Ids:
        if isinstance(asked.init, str):
            return ids[STARTS[asked.init](sampled, asked.n_clusters, rng)]
        if np.ndim(asked.init) == 1:
            return given_indices(who, asked.init, asked.n_clusters, n_rows, allowed)
        return nearest_to_given(who, asked.init, asked.n_clusters, metric, blocks, sample.rows)

    def descend(recorder: Recorder) -> MedoidRun:
        if asked.n_clusters == 1:
            return _single(blocks, sample, recorder)
        medoids = start()
        walk = Walk(medoids, _picked(blocks, metric, who, medoids), sample, n_rows)
        return _recorded(walk, blocks, asked.max_iter, recorder)

    run, recorder = best_run(asked, METHODS["onebatch"], descend)
    if not complete:
        say_approximate(who, recorder, ids.size, n_rows, asked, depth=3)
    return replace(run, swap_optimal=run.settled and complete), recorder


def _picked(blocks: Source, metric: Metric, who: str, ids: Ids) -> npt.NDArray[Any]:
    """Some rows as they are compared."""
    return prepared_rows(metric, dense(who, blocks.pick(ids).rows))


@dataclass
class Walk:
    """Where a search over rows that come by stands: its medoids, and what it has seen."""

    medoids: Ids
    rows: npt.NDArray[Any]
    sample: Sample
    n_rows: int
    n_visited: int = 0
    n_fruitless: int = 0  # of them, since the last swap

    @property
    def settled(self) -> bool:
        return self.n_fruitless >= self.n_rows

    def total(self, n_threads: int) -> float:
        """The total deviation of the sample from the medoids."""
        search = self.sample.search(self.rows, None, n_threads)
        return self._started(search, 0, n_threads)

    def _started(self, search: kernels.Medoids, first: int, n_threads: int) -> float:
        total = search.start(list(range(self.medoids.size)), first, 1, n_threads)
        self._check_found(search)
        return total

    def _check_found(self, search: kernels.Medoids) -> None:
        if search.lost_row >= 0:
            raise lost(self.sample.who, int(self.sample.ids[search.lost_row]))

    def visit(self, block: Block, recorder: Recorder) -> Iterator[float]:
        """Swap in rows of a block as soon as that helps: the total deviation after each swap."""
        n_medoids = self.medoids.size
        candidates = np.concatenate([self.rows, self.sample.prepared(block)])
        ids = np.concatenate([self.medoids, np.arange(block.span.start, block.span.stop)])
        allowed = None
        if block.weights is not None:
            allowed = np.concatenate([np.ones(n_medoids, dtype=bool), block.weights > 0])
        search = self.sample.search(candidates, allowed, block.n_threads)
        self._started(search, n_medoids, block.n_threads)
        while not self.settled and search.n_visited < block.n_rows:
            before = search.n_visited
            most = min(block.n_rows - before, self.n_rows - self.n_fruitless)
            totals = search.swap_eagerly(swaps_at_once(recorder), most, block.n_threads)
            self._check_found(search)
            seen = search.n_visited - before
            self.n_visited += seen
            self.n_fruitless = search.n_fruitless if totals else self.n_fruitless + seen
            if totals:
                self.medoids = ids[search.medoids]
                self.rows = candidates[search.medoids]
            yield from totals


def _recorded(walk: Walk, blocks: Source, max_iter: int, recorder: Recorder) -> MedoidRun:
    """Rounds of swaps until one changes nothing; the recorder is told what each swap leaves."""
    total = walk.total(blocks.n_threads)
    check_total(walk.sample.who, total)
    stopped = note(recorder, 0, total, walk.medoids)
    n_swaps = 0
    for _ in range(max_iter):
        if stopped or walk.settled:
            break
        for block in blocks:
            for after in walk.visit(block, recorder):
                total, n_swaps = after, n_swaps + 1
                stopped = note(recorder, n_swaps, total, walk.medoids)
                if stopped:
                    break
            if stopped or walk.settled:
                break
    n_rounds = -(-walk.n_visited // walk.n_rows)
    return MedoidRun(walk.medoids, total, n_rounds, walk.settled, False)


@dataclass(frozen=True)
class Middle:
    """The row with the least total deviation of the sample; of `a + b` the better, ties to a."""

    row: int
    total: float

    def __add__(self, other: Middle) -> Middle:
        return other if other.total < self.total else self


def find_middle(block: Block, sample: Sample) -> Middle:
    """The best single medoid of a block."""
    allowed = None if block.weights is None else block.weights > 0
    if allowed is not None and not allowed.any():
        return Middle(-1, np.inf)
    search = sample.search(sample.prepared(block), allowed, block.n_threads)
    found = search.build(1, block.n_threads)[0]
    lengths = np.empty(sample.rows.shape[0])
    search.lengths(found, lengths, block.n_threads)
    if not np.isfinite(lengths).all():
        raise lost(sample.who, int(sample.ids[np.argmax(~np.isfinite(lengths))]))
    return Middle(block.start + found, total_of(sample.who, lengths, sample.weights))


def _single(blocks: Source, sample: Sample, recorder: Recorder) -> MedoidRun:
    """The one medoid that is best for the sample."""
    found = blocks.total(find_middle, sample)
    medoids = np.array([found.row], dtype=np.int64)
    note(recorder, 0, found.total, medoids)
    return MedoidRun(medoids, found.total, 1, True, False)
