"""What a fit tells while it runs: callbacks, and a line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Progress:
    """What a callback is given once per iteration; `parameters` are to be read, not changed."""

    iteration: int
    max_iter: int
    objective: float
    restart: int
    n_init: int
    parameters: npt.NDArray[np.float64]


#: Called once per iteration; returning True stops the fit, which keeps the best model so far.
Callback = Callable[[Progress], Any]


def says_stop(answer: Any) -> bool:
    """Only True itself stops a fit, not anything that happens to be returned."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def stderr_progress(who: str) -> Callback:
    """A callback that keeps one line on stderr up to date (`verbose=True`)."""

    def show(progress: Progress) -> None:
        restart = f" run {progress.restart + 1}/{progress.n_init}" if progress.n_init > 1 else ""
        of_all = f"/{progress.max_iter}" if progress.max_iter else ""
        end = "\n" if not sys.stderr.isatty() else "\r"
        print(
            f"{who}:{restart} iteration {progress.iteration}{of_all}, "
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
        return any(says_stop(answer) for answer in answers)

    return call
