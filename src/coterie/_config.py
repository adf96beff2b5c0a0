"""Options of the whole package, and what it runs on."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import joblib

from coterie._kernels import available_isas, kernels

_DEFAULTS: dict[str, Any] = {
    "n_threads": None, "check_invariants": False, "max_memory": None, "spool_rows": True,
}  # fmt: skip
_options: dict[str, Any] = dict(_DEFAULTS)

#: More threads than any machine has CPUs.
_MOST_THREADS = 1 << 16
#: Bytes in what people write behind a number.
_UNITS = {"": 1, "B": 1} | {
    f"{letter}{tail}": base**power
    for power, letter in enumerate("KMGT", start=1)
    for tail, base in (("", 1000), ("B", 1000), ("IB", 1024))
}
#: Blocks that fit the memory: some four at once, and as much again in decoding; the rest
#: is for the model, the labels and what Python itself takes.
_BLOCKS_AT_ONCE = 64
#: The share of the memory that may be spent to spare time.
_SPARE = 4
#: Seconds for which a count of CPUs is believed, as a quota is read from files, which small fits
#: would feel; then what was counted for, when, and the count.
_BELIEVED = 1.0
_counted: tuple[Any, float, int] = (None, 0.0, 1)


def set_options(**options: Any) -> None:
    """Set options for the rest of the process.

    Parameters
    ----------
    n_threads : int or None
        Threads a kernel may use where an estimator's own `n_threads` is None. None: what
        `COTERIE_NUM_THREADS` says, or every CPU this process may use.
    check_invariants : bool
        Verify after every half-step what must always be true (k-means: the sum of squared
        errors never rises) and name the step that broke it. Slower; for debugging.
    max_memory : int, str or None
        Bytes (or "512MB", "2GiB") that the process should stay within while rows are streamed
        from files, databases or memory maps: blocks and what is read ahead are made smaller. What
        a result takes (4 bytes per row for labels) is on top where it is large. None: no limit, and
        blocks of 16 MB (memory maps: 64 MB).
    spool_rows : bool
        Write the rows of files down as plain numbers when they are read a second time, to a
        temporary file without a name in `TMPDIR`, so that later passes need not decode them. Never
        into memory (tmpfs), nor where it takes more than half of the room that is left on the disk.
    """
    for name, value in options.items():
        if name not in _DEFAULTS:
            raise ValueError(
                f"set_options: there is no option {name!r}; the options are {', '.join(_DEFAULTS)}."
            )
        if name == "n_threads" and value is not None:
            value = _check_n_threads("set_options", value)
        if name in ("check_invariants", "spool_rows") and not isinstance(value, bool):
            raise ValueError(f"set_options: {name}={value!r}; use True or False.")
        if name == "max_memory" and value is not None:
            value = _check_bytes(value)
        _options[name] = value


def _check_bytes(value: Any) -> int:
    """A number of bytes, given as such or with a unit."""
    parts = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(value))
    unit = None if parts is None else _UNITS.get(parts[2].upper())
    try:
        n_bytes = 0 if parts is None or unit is None else int(float(parts[1]) * unit)
    except (ValueError, OverflowError):
        n_bytes = 0
    if isinstance(value, bool) or n_bytes < 1:
        raise ValueError(
            f"set_options: max_memory={value!r}; use a number of bytes, a text such as '512MB' or "
            "'2GiB', or None."
        )
    return n_bytes


def block_bytes(usual: int) -> int:
    """Bytes a block of streamed rows may take: what is usual, or less under `max_memory`."""
    most = _options["max_memory"]
    return usual if most is None else max(1, min(usual, most // _BLOCKS_AT_ONCE))


def has_spare(n_bytes: int) -> bool:
    """Whether `max_memory` has room for what is not needed, but spares time."""
    most = _options["max_memory"]
    return most is None or n_bytes <= most // _SPARE


def get_options() -> dict[str, Any]:
    """The options in force."""
    return dict(_options)


@contextmanager
def options(**changes: Any) -> Iterator[None]:
    """Set options, those of `set_options`, inside a `with` block only."""
    before = dict(_options)
    try:
        set_options(**changes)
        yield
    finally:
        _options.update(before)


def show_config() -> dict[str, Any]:
    """What coterie runs on: its version, the instruction set in use, and the threads.

    Returns
    -------
    dict
        `version`, `isa` (in use), `isas` (that this machine can run), `vector_bits`,
        `n_threads` (a kernel gets by default), `n_cpus` (this process may use), `machine`.
    """
    return {
        "version": version("coterie"),
        "isa": kernels.isa,
        "isas": available_isas(),
        "vector_bits": kernels.vector_bytes * 8,
        "n_threads": resolve_n_threads(None),
        "n_cpus": usable_cpus(),
        "machine": platform.machine(),
    }


def usable_cpus() -> int:
    """CPUs of the process' affinity mask and cgroup quota; a new quota is seen after a second."""
    global _counted
    mask = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    asked_for, now = (mask, os.environ.get("LOKY_MAX_CPU_COUNT")), time.monotonic()
    known = _counted
    if known[0] != asked_for or now - known[1] > _BELIEVED:
        known = _counted = (asked_for, now, int(joblib.cpu_count()))
    return known[2]


def _check_n_threads(who: str, value: Any, name: str = "n_threads") -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise ValueError(f"{who}: {name}={value!r}; use a whole number of at least 1, or None.")
    if int(value) > _MOST_THREADS:
        raise ValueError(
            f"{who}: {name}={value!r}, and {_MOST_THREADS} is the most there can be; use about "
            f"as many as there are CPUs ({usable_cpus()} here), or None."
        )
    return int(value)


def resolve_n_threads(n_threads: Any, who: str = "coterie", *, n_jobs: Any = None) -> int:
    """How many threads a kernel gets: the argument, the option, the environment or the CPUs.

    CPUs are those of the process' affinity mask and cgroup quota. `threadpoolctl` limits cap all.
    `n_jobs` is scikit-learn's name of the argument, where -1 means all CPUs, -2 all but
    one, and so on.
    """
    if n_threads is not None:
        wanted = _check_n_threads(who, n_threads)
    elif n_jobs is not None:
        from_the_end = hasattr(n_jobs, "__index__") and int(n_jobs) < 0
        wanted = (
            max(1, usable_cpus() + 1 + int(n_jobs))
            if from_the_end
            else _check_n_threads(who, n_jobs, "n_jobs")
        )
    elif _options["n_threads"] is not None:
        wanted = int(_options["n_threads"])
    elif os.environ.get("COTERIE_NUM_THREADS"):
        text = os.environ["COTERIE_NUM_THREADS"]
        if not (text.isascii() and text.isdigit()) or int(text) < 1:
            raise ValueError(
                f"COTERIE_NUM_THREADS={text!r} in the environment; "
                "use a whole number of at least 1."
            )
        wanted = _check_n_threads("COTERIE_NUM_THREADS", int(text))
    else:
        wanted = usable_cpus()
    limit = kernels.thread_limit()
    return min(wanted, limit) if limit > 0 else wanted
