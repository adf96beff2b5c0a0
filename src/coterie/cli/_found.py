"""What a fit found, and what there is to report of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from coterie._history import durations, iterations
from coterie.cli._labelling import labels_of
from coterie.data import Source
from coterie.table_model import TableModel


@dataclass(frozen=True)
class Choices:
    """What was asked for on the command line; `own` holds the options given, by their names."""

    seed: int
    threads: int | None
    callback: Callable[[Any], None] | None
    own: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fact:
    """Something to report: `key` and `value` for programs, `text` for people."""

    key: str
    value: Any
    text: str


@dataclass(frozen=True)
class Found:
    """A fitted model with its labels, below 0 for noise, and facts about it.

    `labels` are an array; of rows that stream they may come some at a time.

    `centers` has a row per cluster and a column per column: numbers, or text to be shown as it is.
    `facts` are called what people read; `notes` are in the estimator's own words.
    """

    model: Any
    labels: npt.NDArray[Any] | Iterable[npt.NDArray[Any]]
    centers: npt.NDArray[Any]
    facts: dict[str, Fact]
    notes: list[str] = field(default_factory=list)


def number(key: str, value: float, more: str = "") -> Fact:
    """A number with ten digits, and what there is to say of it."""
    return Fact(key, float(value), f"{value:.10g}{more}")


def course(history: Sequence[Mapping[str, Any]]) -> dict[str, Fact]:
    """How a fit went, by its history alone: steps that were taken, stages that took their time."""
    facts = {}
    for step in iterations(history):
        name = f"{step['step_name']}s"
        facts[name] = Fact(name, step["iteration"], str(step["iteration"]))
    took = durations(history)
    if took:
        told = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in took)
        facts["stages"] = Fact("seconds", dict(took), told)
    return facts


def notes_of(model: Any) -> list[str]:
    """What an estimator noted while it was fitted."""
    return [event["detail"] for event in getattr(model, "events_", ())]


@dataclass(frozen=True)
class Predicted:
    """Labels of rows that stream, some at a time."""

    model: Any
    rows: Source

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        # Rows are scaled already and have no names, as those of the fit.
        yield from labels_of(TableModel(self.model), self.rows)
