"""Passes of a fitted mixture over rows that nobody has looked at yet.

Each block is checked as it is read, so one pass over the rows answers, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block
from coterie.mixture._family import Family, Floats, Mixture
from coterie.mixture._values import Reading


@dataclass(frozen=True)
class Judge:
    """How rows are read, and the mixture for rows without and with missing cells."""

    reading: Reading
    whole: tuple[Family, Mixture]
    holed: tuple[Family, Mixture]

    def __call__(self, block: Block) -> tuple[Block, Family, Mixture]:
        """A block as read, and what judges it."""
        read, missing = self.reading(block)
        return read, *(self.holed if missing else self.whole)


def fill_labels(block: Block, judge: Judge, labels: npt.NDArray[np.int64]) -> None:
    """Fill in the likeliest component of every row; -1 is the background."""
    read, family, mixture = judge(block)
    found = np.empty(block.n_rows, dtype=np.int32)
    family.posterior(read, mixture, labels=found)
    labels[:] = found


def fill_resp(block: Block, judge: Judge, resp: npt.NDArray[Any]) -> None:
    """Fill in the responsibilities for every row, rounded to the type of `resp`."""
    read, family, mixture = judge(block)
    if resp.dtype == np.float64:
        family.posterior(read, mixture, resp=resp)
        return
    found = np.empty(resp.shape)
    family.posterior(read, mixture, resp=found)
    resp[:] = found


def fill_log_prob(block: Block, judge: Judge, log_prob: Floats) -> None:
    """Fill in the log-density of every row."""
    read, family, mixture = judge(block)
    family.posterior(read, mixture, log_prob=log_prob)


@dataclass(frozen=True)
class Fit:
    """How well rows are told: their weight, the sum of log-densities, and the same of the
    responsibilities of their likeliest components, where asked.
    """

    weight: float
    log_lik: float
    log_best: float = 0.0

    def __add__(self, other: Fit) -> Fit:
        return Fit(
            self.weight + other.weight, self.log_lik + other.log_lik, self.log_best + other.log_best
        )


def sum_log_prob(block: Block, judge: Judge) -> Fit:
    """The log-likelihood of a block."""
    log_prob = np.empty(block.n_rows)
    fill_log_prob(block, judge, log_prob)
    if block.weights is None:
        return Fit(block.n_rows, float(log_prob.sum()))
    return Fit(float(block.weights.sum()), float(log_prob @ block.weights))


def sum_completed(block: Block, judge: Judge) -> Fit:
    """The log-likelihood of a block, and how sure its likeliest components are."""
    read, family, mixture = judge(block)
    n_components = family.n_components(mixture.components)
    log_lik = log_best = 0.0
    for tile in family.tiles(read, mixture):
        log_prob, resp = np.empty(tile.n_rows), np.empty((tile.n_rows, n_components))
        family.posterior(tile, mixture, log_prob=log_prob, resp=resp)
        best = resp.max(axis=1)
        if mixture.background is not None:
            best = np.maximum(best, 1 - resp.sum(axis=1))
        log_lik += float(log_prob.sum())
        log_best += float(np.log(best).sum())
    return Fit(block.n_rows, log_lik, log_best)


def sum_free_energy(block: Block, judge: Judge, resp: npt.NDArray[Any]) -> float:
    """F of a block for given responsibilities, an entry per row of the source."""
    read, family, mixture = judge(block)
    total = 0.0
    for tile in family.tiles(read, mixture):
        here = resp[tile.span]
        joint = family.log_joint(mixture, tile.rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(here > 0, here * (np.log(here) - joint), 0.0).sum(axis=1)
        total += float(terms.sum() if tile.weights is None else terms @ tile.weights)
    return total
