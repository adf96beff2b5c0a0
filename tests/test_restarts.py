"""Restarts: the best run is kept, the first of equals, and no run follows one that was stopped."""

from __future__ import annotations

import operator

import numpy as np

from coterie._history import Progress, Recorder
from coterie._restarts import best_of, recorders


def fall(recorder: Recorder, objective: float) -> float:
    """A run of one iteration that ends at `objective`."""
    recorder.iteration(np.zeros(1), iteration=1, objective_update=objective)
    return objective


def best_fall(objectives: list[float], stop_at: float | None = None) -> tuple[float, Recorder, int]:
    def callback(progress: Progress) -> bool:
        return progress.objective == stop_at

    best, n_runs = None, 0
    for recorder in recorders(len(objectives), 1, callback):
        run = fall(recorder, objectives[recorder.restart])
        best = best_of(best, run, recorder, operator.lt)
        n_runs += 1
    assert best is not None
    return *best, n_runs


def test_the_best_run_is_kept_with_its_recorder() -> None:
    run, recorder, n_runs = best_fall([3.0, 1.0, 2.0])
    assert (run, recorder.restart, n_runs) == (1.0, 1, 3)
    assert recorder.history[0]["objective_update"] == 1.0
    assert recorder.events == []


def test_of_equals_the_first_is_kept() -> None:
    assert best_fall([2.0, 1.0, 1.0])[1].restart == 1


def test_no_run_follows_one_that_was_stopped() -> None:
    run, recorder, n_runs = best_fall([1.0, 3.0, 0.5], stop_at=3.0)
    assert (run, recorder.restart, n_runs) == (1.0, 0, 2)
    assert [event["what"] for event in recorder.events] == ["stopped"]


def test_a_run_that_was_stopped_may_be_the_best_and_tells_so_once() -> None:
    run, recorder, n_runs = best_fall([2.0, 1.0, 0.5], stop_at=1.0)
    assert (run, recorder.restart, n_runs) == (1.0, 1, 2)
    assert [event["what"] for event in recorder.events] == ["stopped"]


def test_recorders_know_which_run_theirs_is() -> None:
    made = list(recorders(3, 7, keep_parameters=True))
    assert [recorder.restart for recorder in made] == [0, 1, 2]
    assert {
        (recorder.n_init, recorder.max_iter, recorder.keep_parameters) for recorder in made
    } == {(3, 7, True)}
