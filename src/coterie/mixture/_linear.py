"""Families whose log-density is linear in the row: log p_j(x) = offset_j + x . slope_j + h(x)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import Block, Source
from coterie.mixture._family import Expectation, Family, Floats, Mixture


@dataclass(frozen=True)
class Sums:
    """Sums of mass times row, (k, d): all that a linear family needs to know of the rows."""

    first: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.first + other.first)


@dataclass(frozen=True)
class LinearFamily(Family):
    """Base of the linear families; rows may be dense or CSR, which is never made dense.

    h(x), the part that no parameter touches, drops out of the responsibilities. While fitting
    only its mean over all rows matters, `mean_carrier`, so every unit of mass is given just that.
    """

    n_cols: int
    mean_carrier: float = 0.0

    @abstractmethod
    def linear_form(self, components: Any) -> tuple[Floats, Floats]:
        """Offsets (k,) and slopes (k, d) of the log-density, all finite."""

    def carrier(self, rows: Any) -> Floats | None:
        """h(x) of every row; None where it is zero."""
        return None

    def log_prob(self, components: Any, rows: Any) -> Floats:
        offsets, slopes = self.linear_form(components)
        log_prob = np.asarray(rows @ slopes.T) + offsets
        carrier = self.carrier(rows)
        return log_prob if carrier is None else log_prob + carrier[:, np.newaxis]

    def summarise(self, components: Any, rows: Any, mass: Floats) -> Sums:
        return Sums(np.ascontiguousarray((rows.T @ mass).T, dtype=np.float64))

    def expected_log_prob(
        self, components: Any, counts: Floats, summary: Sums, before: Any
    ) -> Floats:
        offsets, slopes = self.linear_form(components)
        return counts * (offsets + self.mean_carrier) + np.einsum("jc,jc->j", summary.first, slopes)

    def rounding(self, components: Any, counts: Floats, before: Any) -> float:
        """Offsets, slopes times rows and carriers may all but cancel."""
        offsets, _ = self.linear_form(components)
        return 4 * float((counts * (np.abs(offsets) + abs(self.mean_carrier))).sum())

    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        """One fused native pass: densities, responsibilities and sums tile by tile."""
        k = self.n_components(mixture.components)
        counts, first = np.empty(k), np.empty((k, self.n_cols))
        run, inputs = self._inputs(block, mixture)
        log_lik, neg_entropy = run(*inputs, None, None, None, counts, first, block.n_threads)
        log_lik += self.mean_carrier * float(counts.sum())
        return Expectation(log_lik, neg_entropy, counts, Sums(first))

    def posterior(
        self,
        block: Block,
        mixture: Mixture,
        *,
        log_prob: Floats | None = None,
        resp: Floats | None = None,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        run, inputs = self._inputs(block, mixture)
        run(*inputs, log_prob, resp, labels, None, None, block.n_threads)
        carrier = None if log_prob is None else self.carrier(block.rows)
        if log_prob is not None and carrier is not None:
            log_prob += carrier

    def _inputs(self, block: Block, mixture: Mixture) -> tuple[Any, tuple[Any, ...]]:
        """The kernel, and what it is given."""
        offsets, slopes = self.linear_form(mixture.components)
        run, rows = self._as_given(block)
        offsets, slopes = offsets + mixture.log_weights, np.ascontiguousarray(slopes)
        return run, (*rows, block.weights, offsets, slopes)

    def _as_given(self, block: Block) -> tuple[Any, tuple[Any, ...]]:
        """The kernel for rows of this kind, and the rows as it takes them."""
        return kernels.linear_pass, (block.rows,)


@dataclass(frozen=True)
class Carried:
    """The sum of h(x) over some rows, by their weights, and the weight; `+` adds more rows."""

    total: float
    weight: float

    def __add__(self, other: Carried) -> Carried:
        return Carried(self.total + other.total, self.weight + other.weight)


def mean_carrier(family: LinearFamily, blocks: Source) -> float:
    """The mean of h(x) over all rows, by their weights."""
    found = blocks.total(sum_carriers, family)
    return found.total / found.weight


def sum_carriers(block: Block, family: LinearFamily) -> Carried:
    """The sum of h(x) over a block."""
    weights = np.ones(block.n_rows) if block.weights is None else block.weights
    carrier = family.carrier(block.rows)
    total = 0.0 if carrier is None else float(carrier @ weights)
    return Carried(total, float(weights.sum()))
