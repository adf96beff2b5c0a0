"""Normal columns, each on its own, with cells that are missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from coterie.mixture._family import Floats
from coterie.mixture._linear import LinearFamily, Sums

#: What rounding may leave of the variance of a standardised column.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class Normals:
    """Means and variances of standardised columns, (k, p) each."""

    means: Floats
    variances: Floats


@dataclass(frozen=True)
class NormalFamily(LinearFamily):
    """log p_j(x) = sum_c log N(x_c | mean_jc, variance_jc) over the columns not missing.

    Rows hold 1, z and z^2 of every such cell, z the standardised value: in these the log-density
    is linear. `scales` (p,) are what z was divided by; `floor` is the least variance of z. The
    M-step is exact under that constraint.
    """

    scales: Floats = field(default_factory=lambda: np.ones(1))
    floor: float = 1e-6

    def n_components(self, components: Normals) -> int:
        return int(components.means.shape[0])

    def blank(self, n_components: int) -> Normals:
        shape = (n_components, self.scales.size)
        return Normals(np.zeros(shape), np.ones(shape))

    def linear_form(self, components: Normals) -> tuple[Floats, Floats]:
        means, variances = components.means, components.variances
        constant = (
            -0.5 * np.log(2 * np.pi * variances)
            - np.square(means) / (2 * variances)
            - np.log(self.scales)
        )
        slopes = np.hstack([constant, means / variances, -0.5 / variances])
        return np.zeros(means.shape[0]), slopes

    def maximise(self, counts: Floats, summary: Sums, before: Normals) -> Normals:
        mass, first, second = np.split(summary.first, 3, axis=1)
        seen = mass > 0
        means = np.divide(first, mass, out=before.means.copy(), where=seen)
        squares = np.divide(second, mass, out=np.zeros_like(mass), where=seen)
        variances = np.where(seen, squares - np.square(means), before.variances)
        return Normals(means, np.maximum(variances, self.floor))

    def rounding(self, components: Normals, counts: Floats, before: Normals) -> float:
        """Squares and means cancel in a variance, which is then what distances are measured in."""
        seen = 1 + np.square(components.means) + np.square(before.means)
        own = counts[:, np.newaxis] * seen / components.variances
        return float(own.sum())

    def n_parameters(self, n_components: int) -> int:
        return 2 * n_components * self.scales.size

    def draw(
        self, components: Normals, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        """Standardised values, (size, p)."""
        deviations = np.sqrt(components.variances[component])
        noise = rng.standard_normal((size, self.scales.size))
        return np.asarray(components.means[component] + noise * deviations)


def normal_rows(standardised: Floats) -> Any:
    """1, z and z^2 of every cell that is not NaN, CSR of shape (n_rows, 3 p)."""
    known = ~np.isnan(standardised)
    ones = known.astype(np.float64)
    filled = np.where(known, standardised, 0.0)
    # Built from the mask, so that a value of zero keeps its place.
    n_rows, p = known.shape
    mask = np.hstack([known, known, known])
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int32)
    indices = np.broadcast_to(np.arange(3 * p, dtype=np.int32), mask.shape)[mask]
    values = np.hstack([ones, filled, np.square(filled)])[mask]
    return sp.csr_matrix((values, indices, indptr), shape=(n_rows, 3 * p))
