"""Checks of parameters and of memory, made once, before a fit starts."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.errors import ParameterError


@dataclass(frozen=True)
class Rule:
    """What one parameter may be: a test and the words for it."""

    allows: Callable[[Any], bool]
    words: str

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            lambda value: self.allows(value) or other.allows(value),
            f"{self.words} or {other.words}",
        )


def whole(at_least: int) -> Rule:
    """A whole number of at least this."""

    def allows(value: Any) -> bool:
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, (bool, np.bool_))
            and int(value) >= at_least
        )

    return Rule(allows, f"a whole number of at least {at_least}")


def real(at_least: float, at_most: float = np.inf) -> Rule:
    """A finite number in a closed range."""

    def allows(value: Any) -> bool:
        return (
            isinstance(value, numbers.Real)
            and not isinstance(value, (bool, np.bool_))
            and np.isfinite(float(value))
            and at_least <= float(value) <= at_most
        )

    top = "" if at_most == np.inf else f" and at most {at_most:g}"
    return Rule(allows, f"a number of at least {at_least:g}{top}")


def positive() -> Rule:
    """A finite number above zero."""
    at_least_zero = real(0)
    return Rule(lambda value: at_least_zero.allows(value) and value > 0, "a number above 0")


def one_of(*choices: str) -> Rule:
    """One of these words."""
    quoted = ", ".join(repr(choice) for choice in choices)
    return Rule(lambda value: isinstance(value, str) and value in choices, f"one of {quoted}")


def names(*choices: str) -> Rule:
    """A collection of none, some or all of these words."""
    quoted = ", ".join(repr(choice) for choice in choices)
    return Rule(
        lambda value: isinstance(value, (tuple, list, set, frozenset)) and set(value) <= {*choices},
        f"a tuple of names out of {quoted}",
    )


def mapping(*keys: str) -> Rule:
    """A dict with none, some or all of these keys."""
    quoted = ", ".join(repr(key) for key in keys)
    return Rule(
        lambda value: isinstance(value, Mapping) and set(value) <= {*keys},
        f"a dict with keys out of {quoted}",
    )


NONE = Rule(lambda value: value is None, "None")
CALLABLE = Rule(callable, "a callable")
ARRAY = Rule(
    lambda value: hasattr(value, "shape") or isinstance(value, (list, tuple)),
    "an array",
)
FLAG = Rule(lambda value: isinstance(value, (bool, np.bool_, numbers.Integral)), "True or False")
ANY = Rule(lambda value: True, "anything")
#: scikit-learn's `n_jobs`, which counts from the end where it is negative.
JOBS = (
    NONE
    | whole(1)
    | Rule(lambda value: isinstance(value, numbers.Integral) and int(value) < 0, "a negative one")
)


#: Stands in a model file for a function, which no data file can carry.
STAND_IN = "<callable>"


def is_stand_in(value: Any) -> bool:
    """Whether a parameter was a function before the model was saved."""
    return isinstance(value, str) and value == STAND_IN


def refuse_stand_in(who: str, name: str, value: Any) -> None:
    """Refuse to go on without a function that was lost on the way through a file."""
    if is_stand_in(value):
        raise ValueError(
            f"{who}: {name} was a function when the model was saved, and a model file carries no "
            f"functions; set it again with model.set_params({name}=...)."
        )


def check_params(who: str, params: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Refuse a parameter outside its declared range."""
    for name, rule in rules.items():
        if not rule.allows(params[name]):
            if rule.allows(len):
                refuse_stand_in(who, name, params[name])
            raise ParameterError(f"{who}: {name}={params[name]!r} was given; use {rule.words}.")


def check_enough_rows(who: str, n_clusters: int, n_rows: int) -> None:
    """Refuse more clusters than rows."""
    if n_rows < n_clusters:
        # The first words are scikit-learn's, which tools look for.
        raise ValueError(
            f"{who}: n_samples={n_rows} should be >= n_clusters={n_clusters}; "
            "lower n_clusters or pass more rows."
        )


def check_memory(who: str, n_bytes: int, for_what: str, instead: str) -> None:
    """Refuse what would not fit in the memory that is free now."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{who}: {for_what} need {n_bytes / 1e9:.3g} GB and {available / 1e9:.3g} GB are "
            f"available; {instead}."
        )


def available_memory() -> int | None:
    """Bytes this process may still use, by the machine and its cgroup; None where unknown."""
    known = []
    with suppress(OSError, ValueError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        known.append(1024 * int(lines["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        in_use = int((group / "memory.current").read_text()) - int(stat.get("inactive_file", 0))
        known.append(limit - in_use)
    return max(0, min(known)) if known else None
