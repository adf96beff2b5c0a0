"""What a fit leaves behind to look at: one schema for every estimator."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import numpy as np
import numpy.typing as npt


class Iteration(TypedDict, total=False):
    """One iteration: an entry of `history_`.

    The objective is given after each of the two half-steps, so that their descent can be drawn.
    `seconds` is wall time since the run began; `parameters` is there with ``keep="parameters"``.
    Mixtures give the two terms of the free energy after the E-step, `energy` + `neg_entropy`.
    """

    iteration: int
    objective_assign: float
    objective_update: float
    shift: float
    n_changed: int
    n_scanned: int
    energy: float
    neg_entropy: float
    log_likelihood: float
    seconds: float
    parameters: npt.NDArray[np.float64]


class Stage(TypedDict):
    """One stage of a method that does not iterate: an entry of its `history_`.

    `seconds` is wall time since the fit began, at the end of the stage.
    """

    stage: str
    seconds: float


class Event(TypedDict):
    """Something worth knowing that happened during a fit: an entry of `events_`.

    `what` is a short name to filter by, `where` the cluster, row or parameter concerned,
    `iteration` when (None: before or after the iterations), `detail` a sentence.
    """

    what: str
    where: int | str | None
    iteration: int | None
    detail: str


@dataclass(frozen=True)
class Progress:
    """What a callback is given once an iteration; `parameters` are there to read, not to change."""

    iteration: int
    max_iter: int
    objective: float
    restart: int
    n_init: int
    parameters: npt.NDArray[np.float64]


#: Called once an iteration; returning True stops the fit, which keeps the best model so far.
Callback = Callable[[Progress], Any]


@dataclass
class Recorder:
    """Collects history and events of one run and tells the callback."""

    max_iter: int
    callback: Callback | None = None
    keep_parameters: bool = False
    restart: int = 0
    n_init: int = 1
    history: list[Iteration] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stopped: bool = False
    _began: float = field(default_factory=time.perf_counter)

    @property
    def last(self) -> bool:
        """Whether no other run follows this one."""
        return self.stopped or self.restart + 1 == self.n_init

    def event(
        self,
        what: str,
        detail: str,
        *,
        where: int | str | None = None,
        iteration: int | None = None,
    ) -> None:
        """Note an event."""
        self.events.append(Event(what=what, where=where, iteration=iteration, detail=detail))

    def iteration(self, parameters: npt.NDArray[np.float64], **entry: Any) -> bool:
        """Note an iteration; True when the callback asks to stop."""
        entry["seconds"] = time.perf_counter() - self._began
        if self.keep_parameters:
            entry["parameters"] = parameters.copy()
        self.history.append(cast(Iteration, entry))
        if self.callback is not None:
            progress = Progress(
                iteration=entry["iteration"],
                max_iter=self.max_iter,
                objective=entry["objective_update"],
                restart=self.restart,
                n_init=self.n_init,
                parameters=parameters,
            )
            if _says_stop(self.callback(progress)):
                self.stopped = True
                self.event("stopped", "the callback asked to stop", iteration=entry["iteration"])
        return self.stopped


def _says_stop(answer: Any) -> bool:
    """Only True itself stops a fit, not anything that happens to be returned."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def stderr_progress(who: str) -> Callback:
    """A callback that keeps one line on stderr up to date (`verbose=True`)."""

    def show(progress: Progress) -> None:
        restart = f" run {progress.restart + 1}/{progress.n_init}" if progress.n_init > 1 else ""
        end = "\n" if not sys.stderr.isatty() else "\r"
        print(
            f"{who}:{restart} iteration {progress.iteration}/{progress.max_iter}, "
            f"objective {progress.objective:.6g}",
            end=end,
            file=sys.stderr,
            flush=True,
        )

    return show


def both(first: Callback | None, second: Callback | None) -> Callback | None:
    """One callback that calls two; stops when either says so."""
    if first is None or second is None:
        return first or second

    def call(progress: Progress) -> bool:
        answers = [first(progress), second(progress)]
        return any(_says_stop(answer) for answer in answers)

    return call
