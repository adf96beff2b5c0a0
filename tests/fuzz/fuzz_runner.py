"""Cases in processes that may crash: forked off, limited, and judged by how they end."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import sklearn.exceptions

import coterie
from coterie.errors import AdviceWarning

#: Seconds of wall time and of processor time, and bytes of address space that a case may take.
WALL_SECONDS, CPU_SECONDS, MEMORY = 60, 30, 6 << 30
#: How a call may refuse what it is given.
REFUSALS = (ValueError, TypeError, MemoryError, coterie.errors.FileError)
#: Whose complaints pass as they are: ours, and those of scikit-learn's checks.
TRUSTED = ("coterie", "sklearn")


class BrokenError(AssertionError):
    """What must always be true was not."""


@dataclass(frozen=True)
class Case:
    """One call with what it is given: `run` does it and checks what must be true of the answer."""

    area: str
    seed: int
    told: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.area} {self.seed}: {self.told}"


def failures(cases: Iterable[Case]) -> Iterator[str]:
    """What went wrong, a paragraph for each case that did, as they end.

    A child takes one case after the other; when it dies or hangs, another one takes the rest.
    """
    left = list(cases)
    while left:
        n_ended = 0
        for told in _ends(left):
            if told:
                yield f"{left[n_ended]}\n    {told}"
            n_ended += 1
        left = left[n_ended:]


def _ends(cases: list[Case]) -> Iterator[str]:
    """How the cases end in one child, in their order, up to the first that ends the child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(cases, writing)
    os.close(writing)
    hangs = False
    n_ended = 0
    with os.fdopen(reading, "rb") as pipe:
        while not hangs and n_ended < len(cases):
            hangs = not select.select([pipe], [], [], WALL_SECONDS)[0]
            told = b"" if hangs else pipe.readline()
            if not told:  # closed by the child's death
                break
            yield json.loads(told)
            n_ended += 1
        if hangs:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if hangs:
        yield f"did not end within {WALL_SECONDS} s"
    elif n_ended < len(cases):
        died = os.WIFSIGNALED(status)
        yield f"died of {signal.Signals(os.WTERMSIG(status)).name}" if died else "ended the process"


def _be_child(cases: list[Case], writing: int) -> None:
    """The child's life: limits, the cases, and a line through the pipe for each."""
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for case in cases:
                used = resource.getrusage(resource.RUSAGE_SELF)
                limit = int(used.ru_utime + used.ru_stime) + CPU_SECONDS
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                pipe.write(json.dumps(_judge(case)).encode() + b"\n")
    finally:
        os._exit(0)


def _judge(case: Case) -> str:
    """What is wrong with how the case ends; nothing for an answer and for a clear refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ours in (AdviceWarning, sklearn.exceptions.ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", ours)
        # Said as scikit-learn says it, in its class of warnings.
        warnings.filterwarnings("ignore", "algorithm='elkan'", RuntimeWarning)
        try:
            case.run()
        except REFUSALS as refusal:
            return _judge_refusal(refusal)
        except BrokenError as broken:
            return f"broken: {broken}"
        except BaseException as error:
            return f"{type(error).__name__}: {error}\n{_last_frames(error)}"
    return ""


def _judge_refusal(refusal: BaseException) -> str:
    """A refusal says something, and says it in words of ours, not of what lies below."""
    text = str(refusal).strip()
    if not text:
        return f"an empty {type(refusal).__name__}\n{_last_frames(refusal)}"
    frames = traceback.extract_tb(refusal.__traceback__)
    package = frames[-1].filename.replace(os.sep, "/")
    if not any(f"/{name}/" in package for name in TRUSTED):
        return f"refused by other words: {type(refusal).__name__}: {text}\n{_last_frames(refusal)}"
    return ""


def _last_frames(error: BaseException) -> str:
    lines = traceback.format_list(traceback.extract_tb(error.__traceback__)[-4:])
    return "".join(lines)
