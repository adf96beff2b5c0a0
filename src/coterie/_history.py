"""What a fit leaves behind to look at: one schema for every estimator.

An entry of `history_` is an `Iteration` or a `Stage`, told apart by the key of that name. Both have
`seconds`, and both say in words what they are about, so that who reads them needs no estimator.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np
import numpy.typing as npt

from coterie._progress import Callback, Progress, says_stop
from coterie.errors import AdviceWarning


class Iteration(TypedDict, total=False):
    """One step of a method that takes many.

    The objective is given after each of the two half-steps, so that their descent can be drawn;
    where a method has one value per step, it is `objective_update`. `objective_name` says what
    falls ("sum of squared errors", "free energy"), `step_name` what a step is called.
    `seconds` is wall time since the run began; `parameters` is there with ``keep="parameters"``,
    and of Gaussians `weights` and `covariances`, (k, d, d) whatever their type, beside the means.
    Mixtures give the two terms of the free energy after the E-step, `energy` + `neg_entropy`; trees
    the `level` that is grown and the nodes of it that still learn, `n_nodes`.
    """

    iteration: int
    objective_assign: float
    objective_update: float
    objective_name: str
    step_name: str
    shift: float
    n_changed: int
    n_scanned: int
    energy: float
    neg_entropy: float
    log_likelihood: float
    level: int
    n_nodes: int
    seconds: float
    parameters: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    covariances: npt.NDArray[np.float64]


class Stage(TypedDict):
    """One stage of a method that does not iterate.

    `seconds` is wall time since the fit began, at the end of the stage.
    """

    stage: str
    seconds: float


Entry = Iteration | Stage


class Event(TypedDict):
    """Something worth knowing that happened during a fit: an entry of `events_`.

    `what` is a short name to filter by, `where` the cluster, row or parameter concerned,
    `iteration` when (None: before or after the iterations), `detail` a sentence.
    """

    what: str
    where: int | str | None
    iteration: int | None
    detail: str


@dataclass
class Recorder:
    """Collects history and events of one run and tells the callback."""

    max_iter: int = 0
    callback: Callback | None = None
    keep_parameters: bool = False
    restart: int = 0
    n_init: int = 1
    objective_name: str = "sum of squared errors"
    step_name: str = "iteration"
    history: list[Any] = field(default_factory=list)  # of Entry
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

    def advise(self, who: str, what: str, sentence: str, *, depth: int = 0) -> None:
        """Note an event that calls for other parameters, and warn of it.

        The warning points to the line that called `fit`, where `fit` is `depth` calls above.
        """
        self.event(what, sentence)
        warnings.warn(f"{who}: {sentence}", AdviceWarning, stacklevel=3 + depth)

    def stage(self, name: str) -> None:
        """Note the end of a stage."""
        self.history.append(Stage(stage=name, seconds=time.perf_counter() - self._began))

    def iteration(
        self,
        parameters: npt.NDArray[np.float64],
        kept: Callable[[], Mapping[str, Any]] = dict,
        /,
        **entry: Any,
    ) -> bool:
        """Note an iteration; True when the callback asks to stop.

        What `kept` makes is asked for and stored only together with the parameters.
        """
        entry["objective_name"], entry["step_name"] = self.objective_name, self.step_name
        entry["seconds"] = time.perf_counter() - self._began
        if self.keep_parameters:
            entry["parameters"] = parameters.copy()
            entry |= kept()
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
            if says_stop(self.callback(progress)):
                self.stopped = True
                self.event("stopped", "the callback asked to stop", iteration=entry["iteration"])
        return self.stopped


class Duration(NamedTuple):
    """A stage and the seconds that it took."""

    stage: str
    seconds: float


def durations(history: Iterable[Mapping[str, Any]]) -> list[Duration]:
    """How long each stage of a history took; its other entries count to the stage after them."""
    found, before = [], 0.0
    for entry in history:
        if "stage" in entry:
            found.append(Duration(entry["stage"], entry["seconds"] - before))
            before = entry["seconds"]
    return found


def iterations(history: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries of a history that are iterations."""
    return [entry for entry in history if "iteration" in entry]
