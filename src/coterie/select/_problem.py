"""What a criterion may ask about: the rows, the fits along k, and settings of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._doors import refuse_lazy
from coterie.data import Source, is_dask, is_elsewhere
from coterie.select._fits import Fits, Tick, fits_along, seeded

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How much work the criteria that repeat themselves may do."""

    n_references: int
    n_resamples: int
    n_folds: int
    sample_size: int | None


@dataclass(frozen=True)
class Problem:
    """Numbers of clusters to compare on some rows.

    `draws` gives every criterion a generator of its own, so that asking for one more changes none
    of the others; `kept` is for what two of them share.
    """

    who: str
    X: Any
    estimator: Any
    ks: tuple[int, ...]
    fits: Fits
    settings: Settings
    draws: Callable[[str], np.random.RandomState]
    tick: Tick
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return int(self.fits.labels(self.ks[0]).shape[0])

    def fits_on(
        self, rows: Any, rng: np.random.RandomState, ks: tuple[int, ...] | None = None
    ) -> Fits:
        """The same fits on other rows, or some of them."""
        return fits_along(seeded(self.estimator, rng), rows, self.ks if ks is None else ks,
                          self.tick)  # fmt: skip

    def each(self, score: Callable[[int], float]) -> Floats:
        """A score for every k."""
        return np.array([score(k) for k in self.ks], dtype=np.float64)


@dataclass(frozen=True)
class Measured:
    """What a criterion found.

    `values` has a number for every k, NaN where the criterion has none; `errors` their standard
    errors, or None. `pick` is the k it chooses, or None where it cannot; `reason` says why.
    `finds_one` tells whether its values speak for one cluster; None: where that is its pick.
    """

    values: Floats
    pick: int | None
    reason: str
    errors: Floats | None = None
    finds_one: bool | None = None


def largest(problem: Problem, values: Floats, what: str) -> Measured:
    """The k with the largest value; of equals the smallest k."""
    return _extreme(problem, values, values, f"has the largest {what}")


def smallest(problem: Problem, values: Floats, what: str) -> Measured:
    """The k with the smallest value; of equals the smallest k."""
    return _extreme(problem, values, -values, f"has the smallest {what}")


def _extreme(problem: Problem, values: Floats, merit: Floats, words: str) -> Measured:
    known = ~np.isnan(merit)
    if not known.any():
        return Measured(values, None, "it is defined for none of these k")
    pick = problem.ks[int(np.argmax(np.where(known, merit, -np.inf)))]
    edge = ""
    if pick == problem.ks[-1] and known.sum() > 1:
        edge = ", the largest k tried: widen the range"
    return Measured(values, pick, f"k = {pick} {words}{edge}")


def is_remote(X: Any) -> bool:
    """Whether the rows are somewhere else than in memory."""
    return bool(is_dask(X) or is_elsewhere(X) or isinstance(X, Source))


def take(X: Any, chosen: npt.NDArray[Any], *, square: bool = False) -> Any:
    """Some rows of a table in memory, or the distances between them."""
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    if hasattr(X, "__arrow_c_stream__"):  # so that columns keep their names: polars and Arrow
        return X.take(chosen) if hasattr(X, "take") else X[chosen]
    rows = X if sp.issparse(X) else np.asarray(X)
    return rows[chosen][:, chosen] if square else rows[chosen]


def in_memory(who: str, X: Any) -> Any:
    """Rows as given, or as an array where they are lists; refused where they are no table."""
    if is_remote(X):
        return X
    refuse_lazy(who, X)
    rows = X if hasattr(X, "shape") else np.asarray(X)
    if len(rows.shape) != 2:
        what = f"X has shape {rows.shape}" if rows.shape else f"X is {type(X).__name__} {X!r:.60}"
        raise ValueError(
            f"{who}: Expected 2D array, got {len(rows.shape)}D array instead: {what}; pass a "
            "table with a line for each row, X.reshape(-1, 1) where it is one column."
        )
    return rows
