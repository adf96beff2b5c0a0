"""Run contenders against each other, each repetition in a fresh process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._data import Arrays

N_THREADS = 2
WARM_ROWS = 5_000  # imports and thread starts happen on this many rows, before the clock
REPO_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Outcome:
    """What a contender hands back: the array to be judged, and its iterations if it has any."""

    result: NDArray[Any]
    n_iter: int | None = None


Call = Callable[[], Outcome]  # what is timed
Prepare = Callable[[Arrays], Call]


@dataclass(frozen=True)
class Contender:
    """One implementation: `prepare(arrays)` returns the call that is timed."""

    name: str
    module: str  # what it imports
    distribution: str  # what it is called on PyPI
    prepare: Prepare
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """One row of the comparison: the data, who runs on it, and how the result is judged."""

    name: str
    title: str
    n_rows: int
    make: Callable[[int], Arrays]  # n_rows -> arrays
    contenders: Sequence[Contender]
    judge: Callable[[Arrays, NDArray[Any]], float]  # lower is better
    judged_by: str = "SSE"


@dataclass(frozen=True)
class Run:
    """One repetition of one contender."""

    seconds: float
    quality: float
    n_iter: int | None
    peak_bytes: int


@dataclass(frozen=True)
class Entry:
    """All repetitions of one contender, or why there are none."""

    contender: str
    runs: tuple[Run, ...]
    failure: str | None = None

    @property
    def best(self) -> float:
        """Seconds of the fastest repetition."""
        return min(run.seconds for run in self.runs)

    @property
    def median(self) -> float:
        """Seconds of the middle repetition."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        """The most memory a repetition needed beyond the data."""
        return max(run.peak_bytes for run in self.runs)


def compete(workload: Workload, n_repeats: int) -> list[Entry]:
    """Run every contender `n_repeats` times, taking turns, on the same saved arrays.

    Taking turns (rather than one after the other) spreads a slow moment of the machine over all.

    Parameters
    ----------
    workload
        What to run.
    n_repeats
        Repetitions of each contender.
    """
    runs: dict[str, list[Run]] = {contender.name: [] for contender in workload.contenders}
    failures: dict[str, str] = {
        contender.name: f"{contender.distribution} is not installed"
        for contender in workload.contenders
        if find_spec(contender.module) is None
    }
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder:
        for name, array in workload.make(workload.n_rows).items():
            np.save(Path(folder, name), array)
        for repeat in range(n_repeats):
            for contender in workload.contenders:
                if contender.name in failures:
                    continue
                try:
                    run = _run_once(workload, contender, Path(folder))
                except subprocess.CalledProcessError as error:
                    failures[contender.name] = _last_line(error.stderr) or str(error)
                    continue
                runs[contender.name].append(run)
                print(
                    f"{workload.name} {repeat + 1}/{n_repeats} {contender.name}: "
                    f"{run.seconds:.3f} s",
                    file=sys.stderr,
                )
    return [Entry(name, tuple(done), failures.get(name)) for name, done in runs.items()]


def _run_once(workload: Workload, contender: Contender, folder: Path) -> Run:
    """Start a fresh interpreter for one repetition and read its answer."""
    answer = folder / "answer.json"
    command = [sys.executable, "-m", "benchmarks._child", workload.name, contender.name]
    subprocess.run(
        [*command, str(folder), str(answer)],
        cwd=REPO_ROOT,
        env={**os.environ, **_thread_limits(), **contender.environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return Run(**json.loads(answer.read_text()))


def _thread_limits() -> dict[str, str]:
    """Environment variables that hold every library to N_THREADS."""
    libraries = ("OMP", "OPENBLAS", "MKL", "COTERIE")
    return {f"{library}_NUM_THREADS": str(N_THREADS) for library in libraries}


def _last_line(text: str) -> str:
    """The line of a traceback that names the error."""
    return text.strip().rpartition("\n")[2]
