"""The Poisson family: columns of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from coterie.data import Block, Source
from coterie.mixture._family import Floats
from coterie.mixture._linear import LinearFamily, Sums

#: No rate is less than this, so that every logarithm is finite; exact like that of `_bernoulli`.
_LEAST = 2.0**-53

#: NumPy draws no larger counts, which are whole numbers of 64 bits.
_MOST_TO_DRAW = 9e18

#: Numbers of the rows looked at in one go.
_TILE_NUMBERS = 1 << 18


@dataclass(frozen=True)
class PoissonFamily(LinearFamily):
    """log p_j(x) = sum_c x_c log(rate_jc) - rate_jc - log(x_c!).

    Components are the rates, (k, d). A Gamma prior adds `alpha` events in a mass of
    alpha / usual_c to column c, so it draws the rates towards `usual`, shape (d,).
    """

    alpha: float = 0.0
    usual: Floats | None = None

    def n_components(self, components: Floats) -> int:
        return int(components.shape[0])

    def blank(self, n_components: int) -> Floats:
        return np.ones((n_components, self.n_cols))

    def within(self, rates: Floats) -> Floats:
        """The rates kept away from zero."""
        return np.maximum(rates, _LEAST)

    def linear_form(self, components: Floats) -> tuple[Floats, Floats]:
        return -components.sum(axis=1), np.log(components)

    def carrier(self, rows: Any) -> Floats:
        """-sum_c log(x_c!), a tile at a time."""
        carrier = np.empty(rows.shape[0])
        step = max(1, _TILE_NUMBERS // self.n_cols)
        for start in range(0, rows.shape[0], step):
            tile = rows[start : start + step]
            if sp.issparse(tile):
                tile.data = gammaln(tile.data.astype(np.float64) + 1)
                carrier[start : start + step] = -np.asarray(tile.sum(axis=1)).ravel()
            else:
                log_factorials = gammaln(np.asarray(tile, dtype=np.float64) + 1)
                carrier[start : start + step] = -log_factorials.sum(axis=1)
        return carrier

    @property
    def _prior_mass(self) -> Any:
        if self.alpha == 0 or self.usual is None:
            return 0.0
        return self.alpha / self.usual

    def maximise(self, counts: Floats, summary: Sums, before: Floats) -> Floats:
        mass = np.broadcast_to(counts[:, np.newaxis] + self._prior_mass, before.shape)
        # A component without mass has nothing to learn from.
        rates = np.divide(summary.first + self.alpha, mass, out=before.copy(), where=mass > 0)
        return self.within(rates)

    def log_prior(self, components: Floats) -> float:
        if self.alpha == 0:
            return 0.0
        return float((self.alpha * np.log(components) - self._prior_mass * components).sum())

    def n_parameters(self, n_components: int) -> int:
        return n_components * self.n_cols

    def draw(
        self, components: Floats, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        rates = components[component]
        if rates.max() > _MOST_TO_DRAW:
            raise ValueError(
                f"PoissonMixture: a rate of {rates.max():.3g} is too large to draw from, at most "
                f"{_MOST_TO_DRAW:.3g}; count in larger units."
            )
        return rng.poisson(rates, (size, self.n_cols)).astype(np.float64)


@dataclass(frozen=True)
class ColumnSums:
    """Weighted sums of the columns, and the weight; `+` adds more rows."""

    sums: Floats
    weight: float

    def __add__(self, other: ColumnSums) -> ColumnSums:
        return ColumnSums(self.sums + other.sums, self.weight + other.weight)


def usual_rates(blocks: Source) -> Floats:
    """Mean count of each column; one of zeros counts as if a single event had been seen."""
    found = blocks.total(sum_columns)
    return np.maximum(found.sums, 1.0) / found.weight


def sum_columns(block: Block) -> ColumnSums:
    """Sums of the columns of a block."""
    if block.weights is not None:
        sums = np.asarray(block.weights @ block.rows, dtype=np.float64)
        return ColumnSums(sums, float(block.weights.sum()))
    sums = np.asarray(block.rows.sum(axis=0, dtype=np.float64), dtype=np.float64).ravel()
    return ColumnSums(sums, float(block.n_rows))
