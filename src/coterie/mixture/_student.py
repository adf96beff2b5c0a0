"""The Student-t family: Gaussians whose every row has a hidden scale of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, xlogy

from coterie.data import Block
from coterie.mixture._covariance import diagonal_of
from coterie.mixture._family import Expectation, Family, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily, Gaussians, Moments

#: Where estimated degrees of freedom begin, and the range they stay in.
START_DOF = 10.0
LEAST_DOF, MOST_DOF = 0.5, 1e4

#: No variance is a smaller share of that of all rows.
_LEAST_SHARE = 1e-100
#: Added to the mass of a component, which may be nothing.
_TINY_MASS = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class StudentTs(Gaussians):
    """Locations, scale matrices and factors like those of Gaussians; degrees of freedom (k,)."""

    dof: Floats


@dataclass(frozen=True)
class ScaledMoments(Moments):
    """Moments with mass times E[u] for mass, and sums over the rows for the degrees of freedom.

    `scales` are sums of mass E[u], `log_scales` of mass E[log u], (k,) each; `neg_entropy` is the
    sum of mass E[log q(u)].
    """

    scales: Floats
    log_scales: Floats
    neg_entropy: float

    def __add__(self, other: Any) -> ScaledMoments:
        moments = super().__add__(other)
        return ScaledMoments(
            moments.first,
            moments.second,
            self.scales + other.scales,
            self.log_scales + other.log_scales,
            self.neg_entropy + other.neg_entropy,
        )


@dataclass(frozen=True)
class StudentFamily(GaussianFamily):
    """x | u ~ N(location, scale / u) with hidden u ~ Gamma(dof / 2, dof / 2).

    Given the row and the component, u is Gamma((dof + d) / 2, (dof + D) / 2) with D the squared
    distance, so far rows count less. The M-step falls apart into locations and scales, as for
    Gaussians with weights E[u], and the degrees of freedom, each alone: Peel & McLachlan (2000).
    `given_dof` fixes the latter.
    """

    given_dof: float | None = None

    @classmethod
    def like(cls, family: GaussianFamily, given_dof: float | None) -> StudentFamily:
        """The t-distributions that generalise these Gaussians."""
        settings = {own.name: getattr(family, own.name) for own in fields(GaussianFamily)}
        return cls(**settings, given_dof=given_dof)

    def with_dof(self, gaussians: Gaussians, dof: Any) -> StudentTs:
        """The Gaussians' parameters as those of t-distributions."""
        dof = np.array(np.broadcast_to(dof, gaussians.means.shape[:1]), dtype=np.float64)
        shared = {own.name: getattr(gaussians, own.name) for own in fields(Gaussians)}
        return StudentTs(**shared, dof=dof)

    def with_covariances(self, means: Floats, covariances: Floats, held: Any = False) -> StudentTs:
        gaussians = super().with_covariances(means, covariances, held)
        return self.with_dof(gaussians, self.given_dof or START_DOF)

    def blank(self, n_components: int) -> StudentTs:
        # Infinitely many degrees of freedom: every row counts in full.
        return self.with_dof(super().blank(n_components), np.inf)

    def log_prob(self, components: Any, rows: Any) -> Floats:
        k, d = components.means.shape
        dof = components.dof
        norms = self.shape.log_norms(components.factors, k, d) + d / 2 * np.log(2 / dof)
        norms += gammaln((dof + d) / 2) - gammaln(dof / 2)
        with np.errstate(over="ignore"):
            far = np.log1p(self.sq_distances(components, rows) / dof)
        return np.asarray(norms - (dof + d) / 2 * far)

    def summarise(self, components: Any, rows: Any, mass: Floats) -> ScaledMoments:
        if np.isinf(components.dof).all():
            whole = super().summarise(components, rows, mass)
            counts = mass.sum(axis=0)
            return ScaledMoments(whole.first, whole.second, counts, np.zeros_like(counts), 0.0)
        shape = (components.dof + self.n_cols) / 2
        rate = (components.dof + self.sq_distances(components, rows)) / 2
        scaled = mass * (shape / rate)
        counts = mass.sum(axis=0)
        # Rows so far that their distance overflows have no mass.
        log_rates = xlogy(mass, rate).sum(axis=0)
        # E[log q(u)] of a Gamma distribution.
        constant = (shape - 1) * digamma(shape) - gammaln(shape) - shape
        moments = super().summarise(components, rows, scaled)
        return ScaledMoments(
            moments.first,
            moments.second,
            scaled.sum(axis=0),
            counts * digamma(shape) - log_rates,
            float((log_rates + counts * constant).sum()),
        )

    def latent_neg_entropy(self, summary: Any) -> float:
        return float(summary.neg_entropy)

    # The plain passes: the native one knows no hidden scales.
    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        return Family.expect(self, block, mixture)

    def posterior(
        self,
        block: Block,
        mixture: Mixture,
        *,
        log_prob: Floats | None = None,
        resp: Floats | None = None,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        Family.posterior(self, block, mixture, log_prob=log_prob, resp=resp, labels=labels)

    def maximise(self, counts: Floats, summary: Any, before: Any) -> StudentTs:
        means = before.means + self._moves(summary.scales + _TINY_MASS, summary, before)
        dof = self._best_dof(counts, summary, before)
        if "covariances" in self.fixed:
            return replace(before, means=means, dof=dof)
        scatter = self.scatter_about(means, summary.scales, summary, before)
        covariances = self.shape.pooled(counts + _TINY_MASS, scatter)
        return self.with_dof(self.regularised(means, covariances, before), dof)

    def regularised(self, means: Floats, covariances: Floats, before: Any) -> Gaussians:
        """Gaussians that collapse have no factor at once; heavy tails let a component shrink onto a
        point by a constant factor per iteration, for ever. What has shrunk too far needs the floor.
        """
        k, d = means.shape
        variances = self.shape.variances(covariances, k, d)
        least = np.square(2 * np.finfo(np.float64).eps * means)
        least = np.maximum(least, _LEAST_SHARE * diagonal_of(self._rows.spread))
        shrunk = (variances < least).any(axis=None if self._pooled else 1)
        held = np.maximum(before.floored, shrunk)
        return super().regularised(means, covariances, replace(before, floored=held))

    def _best_dof(self, counts: Floats, summary: ScaledMoments, before: StudentTs) -> Floats:
        if self.given_dof is not None:
            return np.full(counts.shape, self.given_dof)
        if np.isinf(before.dof).all():
            return np.full(counts.shape, START_DOF)
        dof = before.dof.copy()
        for j in np.flatnonzero(counts > 0):
            dof[j] = solve_dof(float((summary.log_scales[j] - summary.scales[j]) / counts[j]))
        return dof

    def expected_log_prob(
        self, components: Any, counts: Floats, summary: Any, before: Any
    ) -> Floats:
        """E_q[log p(x, u | z=j)] summed over the rows."""
        k, d = components.means.shape
        half = components.dof / 2
        scatter = self.scatter_about(components.means, summary.scales, summary, before)
        norms = self.shape.log_norms(components.factors, k, d)
        return np.asarray(
            counts * (norms + half * np.log(half) - gammaln(half))
            - self.traces(components, scatter) / 2
            + (d / 2 + half - 1) * summary.log_scales
            - half * summary.scales
        )

    def n_parameters(self, n_components: int) -> int:
        n_dof = n_components if self.given_dof is None else 0
        return super().n_parameters(n_components) + n_dof

    def draw(
        self, components: Any, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        rows = super().draw(components, component, size, rng)
        if component == -1:
            return rows
        half = components.dof[component] / 2
        location = components.means[component]
        scales = rng.gamma(half, 1 / half, (size, 1))
        return np.asarray(location + (rows - location) / np.sqrt(scales))


def solve_dof(mean_scale: float) -> float:
    """The degrees of freedom with log(v/2) - digamma(v/2) + 1 + mean_scale = 0.

    `mean_scale` is the mean of E[log u] - E[u], at most -1. The left side falls in v, so the root
    is alone; without one in the range, the nearer end is best.
    """

    def slope(log_dof: float) -> float:
        half = np.exp(log_dof) / 2
        return float(np.log(half) - digamma(half) + 1 + mean_scale)

    low, high = np.log(LEAST_DOF), np.log(MOST_DOF)
    if slope(low) <= 0:
        return LEAST_DOF
    if slope(high) >= 0:
        return MOST_DOF
    return float(np.exp(brentq(slope, low, high, xtol=1e-13, rtol=1e-13)))
