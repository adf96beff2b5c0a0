"""The medoids of some rows: which method, from which starts, and the best of several runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._progress import Callback
from coterie._restarts import best_of, recorders
from coterie.medoid._alternate import alternate
from coterie.medoid._given import given_indices, nearest_to_given
from coterie.medoid._nearest import total_of
from coterie.medoid._onebatch import batch_size, draw_batch
from coterie.medoid._pairs import MeasuredPairs, Pairs
from coterie.medoid._starts import STARTS, Field
from coterie.medoid._swap import MedoidRun, fasterpam, note, pam

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
    ids = np.arange(pairs.n_rows)
    if method == "onebatch":
        size = asked.batch_size or batch_size(pairs.n_rows, asked.n_clusters)
        batch = draw_batch(pairs, weights, allowed, max(size, asked.n_clusters), rng)
        n_possible = pairs.n_rows if allowed is None else int(allowed.sum())
        n_left_out = n_possible - batch.rows.size
        field = Field(batch.search, batch.rows, batch.weights, None, pairs.n_threads, n_left_out)
    else:
        search = pairs.search(weights, allowed)
        field = Field(search, ids, weights, allowed, pairs.n_threads)
    best = None
    n_runs = asked.n_init if isinstance(asked.init, str) and asked.init != "build" else 1
    for recorder in recorders(n_runs, 0, asked.callback, objective_name="total deviation"):
        recorder.step_name = METHODS[method]
        start = _start(pairs, field, allowed, asked, rng)
        run = _run(pairs, field, start, method, asked, recorder)
        best = best_of(best, run, recorder, lambda mine, theirs: mine.total < theirs.total)
    assert best is not None
    if field.n_left_out:
        _say_approximate(pairs, best[1], field.rows.size, asked)
    return method, *best


def _start(
    pairs: Pairs, field: Field, allowed: Allowed | None, asked: Asked, rng: np.random.RandomState
) -> Ids:
    """The first medoids."""
    n_clusters, init = asked.n_clusters, asked.init
    if isinstance(init, str):
        return STARTS[init](field, n_clusters, rng)
    if np.ndim(init) == 1:
        return given_indices(pairs.who, init, n_clusters, pairs.n_rows, allowed)
    if not isinstance(pairs, MeasuredPairs):
        raise ValueError(
            f"{pairs.who}: init has {np.ndim(init)} dimensions, and metric='precomputed' knows no "
            "rows; pass row numbers."
        )
    return nearest_to_given(
        pairs.who, init, n_clusters, pairs.metric, pairs.rows, allowed, pairs.n_threads
    )


def _run(
    pairs: Pairs, field: Field, start: Ids, method: str, asked: Asked, recorder: Recorder
) -> MedoidRun:
    """One run from a start."""
    search, max_iter = field.search, asked.max_iter
    if asked.n_clusters == 1:
        return _single(pairs, field, recorder)
    if method == "alternate":
        return alternate(pairs, search, start, field.weights, max_iter=max_iter, recorder=recorder)
    if method == "pam":
        return pam(pairs, search, start, max_iter=max_iter, recorder=recorder)
    run = fasterpam(pairs, search, start, max_iter=max_iter, recorder=recorder)
    # What is best for a sample need not be so for all rows.
    return replace(run, swap_optimal=run.swap_optimal and field.n_left_out == 0)


def _single(pairs: Pairs, field: Field, recorder: Recorder) -> MedoidRun:
    """The one medoid of all rows, which the first step of BUILD finds exactly."""
    medoids = np.array(field.search.build(1, pairs.n_threads), dtype=np.int64)
    lengths = np.empty(field.rows.size)
    field.search.lengths(int(medoids[0]), lengths, pairs.n_threads)
    if not np.isfinite(lengths).all():
        raise pairs.lost(int(np.argmax(~np.isfinite(lengths))))
    total = total_of(pairs.who, lengths, field.weights)
    note(recorder, 0, total, medoids)
    return MedoidRun(medoids, total, 1, True, field.n_left_out == 0)


def _say_approximate(pairs: Pairs, recorder: Recorder, n_sampled: int, asked: Asked) -> None:
    """Tell that a sample stood for the rows, and warn where nobody asked for it."""
    sentence = (
        f"the medoids are approximate: they are the best for {n_sampled} sampled rows that stand "
        f"for all {pairs.n_rows}"
    )
    if asked.method == "onebatch":
        recorder.event("approximate", sentence)
        return
    recorder.advise(
        pairs.who,
        "approximate",
        f"{sentence}, since method='auto' does not measure the distances of all pairs of so many "
        "rows; use method='fasterpam' for these, or method='onebatch' to be told no more.",
        depth=2,
    )
