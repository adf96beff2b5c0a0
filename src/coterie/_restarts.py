"""Restarts: several runs from different starts, of which the best is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from coterie._history import Callback, Recorder

Run = TypeVar("Run")


def recorders(
    n_runs: int, max_iter: int, callback: Callback | None = None, keep_parameters: bool = False
) -> Iterator[Recorder]:
    """A recorder for each of some runs, as it begins; no further run once one was stopped."""
    for restart in range(n_runs):
        recorder = Recorder(max_iter, callback, keep_parameters, restart, n_runs)
        yield recorder
        if recorder.stopped:
            return


def best_of(
    best: tuple[Run, Recorder] | None,
    run: Run,
    recorder: Recorder,
    improves: Callable[[Run, Run], bool],
) -> tuple[Run, Recorder]:
    """The better of the best run so far and the one that just ended, each with its recorder.

    Of equals the first is kept. That a run was stopped is told of the one that is kept as well.
    """
    if best is None or improves(run, best[0]):
        return run, recorder
    if recorder.stopped:
        best[1].events.append(recorder.events[-1])
    return best
