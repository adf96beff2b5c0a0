"""What runs on the workers of a cluster: a pass over a block of rows, and sums of what it found."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data.source import Block


@dataclass(frozen=True)
class Transform:
    """A step on the way of rows: a function of them."""

    transform: Callable[[Any], Any]

    def __call__(self, rows: Any) -> Any:
        return self.transform(rows) if rows.shape[0] else rows


@dataclass(frozen=True)
class Keep:
    """A step on the way of rows: some of them."""

    keeps: Callable[[Any], npt.NDArray[np.bool_]]

    def __call__(self, rows: Any) -> Any:
        return rows[self.keeps(rows)] if rows.shape[0] else rows


@dataclass(frozen=True)
class Recipe:
    """How a block of a collection becomes rows for a kernel."""

    dtype: np.dtype[Any] | None  # None: tables as they are
    steps: tuple[Callable[[Any], Any], ...] = ()

    def then(self, step: Callable[[Any], Any]) -> Recipe:
        return replace(self, steps=(*self.steps, step))

    def rows(self, part: Any) -> Any:
        rows = _table(part) if self.dtype is None else _floats(part, self.dtype)
        for step in self.steps:
            rows = step(rows)
        return rows


def _table(part: Any) -> Any:
    """A block of cells of any type, None where a mask hides them."""
    if not isinstance(part, np.ma.MaskedArray):
        return part
    cells = part.data.astype(object)
    cells[np.ma.getmaskarray(part)] = None
    return cells


def _floats(part: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """A block of numbers as floats, NaN where it has none."""
    if hasattr(part, "to_numpy"):
        return np.asarray(part.to_numpy(dtype=dtype, na_value=np.nan))
    if isinstance(part, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(part.astype(dtype), np.nan))
    return np.asarray(part, dtype=dtype)


@dataclass(frozen=True)
class Pass:
    """What is done with every block; one object, so that it travels to a worker once.

    An error is an answer, too, unless `errors` are to be raised: so it comes back as it is, without
    a word of every worker and scheduler it passes.
    """

    job: Callable[..., Any]
    model: tuple[Any, ...]
    recipe: Recipe
    errors: bool = False

    def __call__(self, part: Any, weights: Any, start: int) -> Any:
        rows = self.recipe.rows(part)
        if rows.shape[0] == 0:
            return getattr(self.job, "nothing", lambda: None)()
        return self.job(Block(rows, weights, start, threads_here()), *self.model)


@dataclass(frozen=True)
class Fill:
    """A job that fills an array, as one that returns it."""

    job: Callable[..., None]
    dtype: np.dtype[Any]
    width: int | None

    def __call__(self, block: Block, *model: Any) -> npt.NDArray[Any]:
        out = self._empty(block.n_rows)
        self.job(block, *model, out)
        return out

    def nothing(self) -> npt.NDArray[Any]:
        """The answer of a block without rows."""
        return self._empty(0)

    def _empty(self, n_rows: int) -> npt.NDArray[Any]:
        return np.empty((n_rows,) if self.width is None else (n_rows, self.width), self.dtype)


@dataclass(frozen=True)
class Failed:
    """The error that a pass ended with on a worker."""

    error: Exception


def run_pass(what: Pass, part: Any, weights: Any, start: int) -> Any:
    """A task: one pass over one block."""
    if what.errors:
        return what(part, weights, start)
    try:
        return what(part, weights, start)
    except Exception as error:
        return Failed(error)


def add_up(*parts: Any) -> Any:
    """A task: the sum of some summaries, from left to right; None for blocks without rows."""
    total = None
    for part in parts:
        if isinstance(part, Failed):
            return part
        if part is not None:
            total = part if total is None else total + part
    return total


def piece_of(dealt: Any, group: int) -> Any:
    """A task: what one group gets of a block."""
    return dealt if dealt is None or isinstance(dealt, Failed) else dealt[group]


def run_on_group(job: Callable[..., Any], group: Any, *model: Any) -> Any:
    """A task: one job for one group."""
    if isinstance(group, Failed):
        return group
    try:
        return job(group, threads_here(), *model)
    except Exception as error:
        return Failed(error)


def rows_of(block: Block) -> npt.NDArray[Any]:
    return block.rows


def count_rows(block: Block) -> int:
    return block.n_rows


def which_rows(block: Block, keeps: Callable[[Any], Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(keeps(block.rows))


def name_of(job: Any) -> str:
    """What to call the tasks of a job."""
    job = job.job if isinstance(job, Fill) else job
    return str(getattr(job, "__name__", type(job).__name__)).strip("_")


def threads_here() -> int:
    """The threads of the worker this runs on; one elsewhere, where blocks share the machine."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 1
    try:
        return int(distributed.get_worker().state.nthreads)
    except ValueError:
        return 1
