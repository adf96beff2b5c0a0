"""Measure how much memory a call needs beyond what the process already holds."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # proc(5): sets the peak resident size back to the present one
SAMPLING_SECONDS = 0.002


@contextmanager
def peak_extra_bytes() -> Iterator[Callable[[], int]]:
    """Watch the resident size inside a `with` block; call the yielded function after it.

    On Linux the kernel keeps the exact peak. Where it does not let a process reset it, a thread
    samples the resident size instead and can miss a short peak.
    """
    watch = _kernel_peak if _can_reset_peak() else _sampled_peak
    _return_free_memory()
    with watch() as extra:
        yield extra


@contextmanager
def _kernel_peak() -> Iterator[Callable[[], int]]:
    """Let the kernel keep the peak."""
    CLEAR_REFS.write_text(RESET_PEAK)
    before = _status_bytes("VmRSS")
    peaks: list[int] = []
    yield lambda: max(peaks) - before
    peaks += [_status_bytes("VmHWM"), before]


@contextmanager
def _sampled_peak() -> Iterator[Callable[[], int]]:
    """Look at the resident size every few milliseconds."""
    import psutil  # of the `bench` extra; only needed here

    process = psutil.Process()
    before = process.memory_info().rss
    peaks = [before]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLING_SECONDS):
            peaks.append(process.memory_info().rss)

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield lambda: max(peaks) - before
    finally:
        peaks.append(process.memory_info().rss)
        done.set()
        sampler.join()


def _can_reset_peak() -> bool:
    """Whether this system has a peak to reset and lets us do it."""
    try:
        CLEAR_REFS.write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def _return_free_memory() -> None:
    """Give freed memory back to the system, so that using it again counts."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


def _status_bytes(field: str) -> int:
    """Read one size of /proc/self/status, which is given in kB."""
    for line in STATUS.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return 1024 * int(value.split()[0])
    raise LookupError(f"{STATUS} has no field {field}; is this Linux with /proc mounted?")
