"""The medoids of some rows: which method, from which starts, and the best of several runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._progress import Callback
from coterie._restarts import best_of, recorders
from coterie.data import ArraySource
from coterie.medoid._alternate import alternate
from coterie.medoid._given import given_indices, nearest_to_given
from coterie.medoid._nearest import total_of
from coterie.medoid._onebatch import batch_size, draw_batch
from coterie.medoid._pairs import MeasuredPairs, Pairs
from coterie.medoid._starts import STARTS, Field
from coterie.medoid._swap import BY_ROW, MedoidRun, draw_order, fasterpam, note, pam

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Allowed = npt.NDArray[np.bool_]

#: The methods, and what a step of each is called.
METHODS = {"fasterpam": "swap", "pam": "swap", "alternate": "iteration", "onebatch": "swap"}


@dataclass(frozen=True)
class Asked:
    """What was asked for; see `KMedoids`."""

    n_clusters: int
    method: str
    init: Any
    n_init: int
    max_iter: int
    batch_size: int | None
    callback: Callback | None


def find_medoids(
    pairs: Pairs,
    weights: Floats | None,
    allowed: Allowed | None,
    asked: Asked,
    rng: np.random.RandomState,
) -> tuple[str, MedoidRun, Recorder]:
    """The method that was used, its best run, and the record of that."""
    method = asked.method
    if method == "auto":
        method = "fasterpam" if pairs.affordable else "onebatch"
    if method == "onebatch":
        return method, *_on_a_sample(pairs, weights, allowed, asked, rng)
    field = Field(pairs.search(weights, allowed), pairs.n_rows, weights, allowed, pairs.n_threads)

    def descend(recorder: Recorder) -> MedoidRun:
        start = _start(pairs, field, weights, allowed, asked, rng)
        if asked.n_clusters == 1:
            return single(pairs, field, recorder)
        search, max_iter = field.search, asked.max_iter
        if method == "alternate":
            return alternate(pairs, search, start, weights, max_iter=max_iter, recorder=recorder)
        if method == "pam":
            return pam(pairs, search, start, max_iter=max_iter, recorder=recorder)
        # Where eager swaps end depends on their order more than on the start.
        order = draw_order(pairs.n_rows, rng) if recorder.restart else BY_ROW
        return fasterpam(pairs, search, start, max_iter=max_iter, recorder=recorder, order=order)

    return method, *best_run(asked, METHODS[method], descend)


def best_run(
    asked: Asked, step_name: str, descend: Callable[[Recorder], MedoidRun]
) -> tuple[MedoidRun, Recorder]:
    """The best of the runs asked for; BUILD and given starts have but one."""
    best = None
    n_runs = asked.n_init if isinstance(asked.init, str) and asked.init != "build" else 1
    for recorder in recorders(n_runs, 0, asked.callback, objective_name="total deviation"):
        recorder.step_name = step_name
        run = descend(recorder)
        best = best_of(best, run, recorder, lambda mine, theirs: mine.total < theirs.total)
    assert best is not None
    return best


def _on_a_sample(
    pairs: Pairs,
    weights: Floats | None,
    allowed: Allowed | None,
    asked: Asked,
    rng: np.random.RandomState,
) -> tuple[MedoidRun, Recorder]:
    """OneBatchPAM: starts among sampled rows, and swaps of all rows for what these say."""
    size = batch_size(pairs.n_rows, asked.n_clusters, asked.batch_size)
    batch = draw_batch(pairs, weights, allowed, size, rng)
    sampled = pairs.among(batch.rows).search(batch.weights, None)
    field = Field(sampled, batch.rows.size, batch.weights, None, pairs.n_threads)
    n_possible = pairs.n_rows if allowed is None else int(allowed.sum())
    complete = batch.rows.size == n_possible
    counting = replace(pairs, counted=batch.rows)

    def descend(recorder: Recorder) -> MedoidRun:
        start = _start(pairs, field, weights, allowed, asked, rng, batch.rows)
        if asked.n_clusters == 1:
            run = single(counting, replace(field, search=batch.search), recorder)
        else:
            run = fasterpam(
                counting, batch.search, start, max_iter=asked.max_iter, recorder=recorder
            )
        # What is best for a sample need not be so for all rows.
        return replace(run, swap_optimal=run.swap_optimal and complete)

    run, recorder = best_run(asked, METHODS["onebatch"], descend)
    if not complete:
        say_approximate(pairs.who, recorder, batch.rows.size, pairs.n_rows, asked, depth=4)
    return run, recorder


def _start(
    pairs: Pairs,
    field: Field,
    weights: Floats | None,
    allowed: Allowed | None,
    asked: Asked,
    rng: np.random.RandomState,
    rows: Ids | None = None,
) -> Ids:
    """The first medoids; `rows` are those of the field, None: all."""
    n_clusters, init = asked.n_clusters, asked.init
    if isinstance(init, str):
        start = STARTS[init](field, n_clusters, rng)
        return start if rows is None else rows[start]
    if np.ndim(init) == 1:
        return given_indices(pairs.who, init, n_clusters, pairs.n_rows, allowed)
    if not isinstance(pairs, MeasuredPairs):
        raise ValueError(
            f"{pairs.who}: init has {np.ndim(init)} dimensions, and metric='precomputed' knows no "
            "rows; pass row numbers."
        )
    blocks = ArraySource(pairs.rows, weights, pairs.n_threads)
    return nearest_to_given(pairs.who, init, n_clusters, pairs.metric, blocks, pairs.rows)


def single(pairs: Pairs, field: Field, recorder: Recorder) -> MedoidRun:
    """The one medoid of all rows, which the first step of BUILD finds exactly."""
    medoids = np.array(field.search.build(1, pairs.n_threads), dtype=np.int64)
    lengths = field.lengths(int(medoids[0]))
    if not np.isfinite(lengths).all():
        raise pairs.lost(int(np.argmax(~np.isfinite(lengths))))
    total = total_of(pairs.who, lengths, field.weights)
    note(recorder, 0, total, medoids)
    return MedoidRun(medoids, total, 1, True, True)


def say_approximate(
    who: str, recorder: Recorder, n_sampled: int, n_rows: int, asked: Asked, *, depth: int
) -> None:
    """Tell that a sample stood for the rows, and warn where nobody asked for it."""
    sentence = (
        f"the medoids are approximate: they are the best for {n_sampled} sampled rows that stand "
        f"for all {n_rows}"
    )
    if asked.method == "onebatch":
        recorder.event("approximate", sentence)
        return
    recorder.advise(
        who,
        "approximate",
        f"{sentence}, since method='auto' does not measure the distances of all pairs of so many "
        "rows; use method='fasterpam' for these, or method='onebatch' to be told no more.",
        depth=depth,
    )
