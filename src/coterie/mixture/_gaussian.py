"""The Gaussian family: moments in, means and covariances out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import Block, Blocks
from coterie.mixture._covariance import Shape
from coterie.mixture._family import Expectation, Family, Floats, Mixture

#: scikit-learn adds this to every component's mass.
_TINY_MASS = 10 * np.finfo(np.float64).eps

#: The automatic floor: this share of each column's variance.
_FLOOR_SHARE = 1e-6


@dataclass(frozen=True)
class Gaussians:
    """Means (k, d), covariances and precision factors in the shape of the family.

    `floored` tells whose covariance was not positive definite, or below the floor.
    """

    means: Floats
    covariances: Floats
    factors: Floats
    floored: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Moments:
    """Sums of mass (x - m) and mass (x - m)(x - m)^T about the means m they were taken with.

    `second` is (k, d, d), or (k, d) where only the diagonals matter, or None where the family
    knows their sum beforehand.
    """

    first: Floats
    second: Floats | None

    def __add__(self, other: Moments) -> Moments:
        second = None
        if self.second is not None and other.second is not None:
            second = self.second + other.second
        return Moments(self.first + other.first, second)


@dataclass(frozen=True)
class Overview:
    """All rows at once: total weight, mean (d,) and scatter about it (d, d)."""

    weight: float
    mean: Floats
    scatter: Floats

    @property
    def covariance(self) -> Floats:
        return self.scatter / self.weight

    def floor(self) -> Floats:
        """The least variance a component may have in each column: a share of the rows' own."""
        variances = np.diagonal(self.covariance)
        least = np.square(np.finfo(np.float64).eps * np.maximum(np.abs(self.mean), 1e-140))
        usual = variances[variances > least]
        # A constant column has no scale of its own: it borrows one from the others.
        spare = usual.min() if usual.size else np.maximum(1.0, least.max())
        return _FLOOR_SHARE * np.where(variances > least, variances, np.maximum(spare, least))


def look_over(blocks: Blocks, mean: Floats) -> Overview:
    """Weight, mean and scatter of all rows, given about where their mean is."""
    n_cols = blocks.n_cols

    def sums(block: Block) -> Expectation:
        first, second = np.zeros((1, n_cols)), np.zeros((1, n_cols, n_cols))
        counts = np.zeros(2)
        one = np.eye(n_cols)[np.newaxis]
        log_lik, neg_entropy = kernels.gaussian_pass(
            block.rows, block.weights, np.zeros(1), mean[np.newaxis], one, np.zeros(1), -np.inf,
            None, None, None, counts, first, second, block.n_threads,
        )  # fmt: skip
        return Expectation(0.0, 0.0, counts[:1], Moments(first, second))

    total = blocks.total(sums)
    weight = float(total.counts[0])
    shift = total.summary.first[0] / weight
    scatter = total.summary.second[0] - weight * np.outer(shift, shift)
    return Overview(weight, mean + shift, scatter)


@dataclass(frozen=True)
class GaussianFamily(Family):
    """Gaussians of one covariance shape.

    `reg_covar` is added to every variance as scikit-learn does; None instead floors each
    covariance relative to the rows' own, which keeps the M-step exact under that constraint. The
    floor also catches what is not positive definite under any setting. `fixed` names what the
    M-step leaves alone: "means", "covariances".
    """

    shape: Shape
    n_cols: int
    overview: Overview | None = None  # not needed once fitted
    reg_covar: float | None = None
    fixed: frozenset[str] = field(default_factory=frozenset)

    @property
    def _rows(self) -> Overview:
        assert self.overview is not None, "fitting needs to know the rows as a whole"
        return self.overview

    @property
    def _pooled(self) -> bool:
        """Whether one covariance is shared by all components."""
        return self.shape.name == "tied"

    def n_components(self, components: Gaussians) -> int:
        return int(components.means.shape[0])

    def blank(self, n_components: int) -> Gaussians:
        means = np.tile(self._rows.mean, (n_components, 1))
        ones = self.shape.add_to_diagonal(np.zeros(self.shape.dims(n_components, self.n_cols)), 1.0)
        return self.with_covariances(means, ones)

    def with_covariances(self, means: Floats, covariances: Floats) -> Gaussians:
        """Components with these parameters; what has no Cholesky factor is floored."""
        factors, bad = self.shape.factor(covariances)
        if bad.any():
            clipped, _ = self.shape.clip(covariances, self._rows.floor())
            covariances = np.where(_along(bad, covariances), clipped, covariances)
            factors, _ = self.shape.factor(covariances)
        floored = np.broadcast_to(bad, means.shape[:1]).copy()
        return Gaussians(means, covariances, factors, floored)

    def log_prob(self, components: Gaussians, rows: Any) -> Floats:
        k, d = components.means.shape
        factors = self.shape.kernel_factors(components.factors, k, d)
        norms = self.shape.log_norms(components.factors, k, d)
        rows = np.asarray(rows, dtype=np.float64)
        log_prob = np.empty((rows.shape[0], k))
        for j in range(k):
            own = factors[j % factors.shape[0]]
            centred = rows - components.means[j]
            white = centred * own if own.ndim == 1 else centred @ own
            log_prob[:, j] = norms[j] - np.square(white).sum(axis=1) / 2
        return log_prob

    def summarise(self, components: Gaussians, rows: Any, mass: Floats) -> Moments:
        k, d = components.means.shape
        rows = np.asarray(rows, dtype=np.float64)
        diagonal = self._diagonal
        first, second = np.empty((k, d)), np.empty((k, d) if diagonal else (k, d, d))
        for j in range(k):
            centred = rows - components.means[j]
            weighted = centred * mass[:, j : j + 1]
            first[j] = weighted.sum(axis=0)
            second[j] = (weighted * centred).sum(axis=0) if diagonal else weighted.T @ centred
        return Moments(first, second)

    @property
    def _diagonal(self) -> bool:
        return self.shape.name in ("diag", "spherical")

    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        """One fused native pass: densities, responsibilities and moments tile by tile."""
        k, d = mixture.components.means.shape
        shared = self._pooled and mixture.background is None
        counts, first = np.empty(k + 1), np.empty((k, d))
        second = None if shared else np.empty((k, d) if self._diagonal else (k, d, d))
        log_lik, neg_entropy = self._pass(block, mixture, None, None, None, counts, first, second)
        if mixture.background is None:
            counts = counts[:k]
        return Expectation(log_lik, neg_entropy, counts, Moments(first, second))

    def posterior(
        self,
        block: Block,
        mixture: Mixture,
        *,
        log_prob: Floats | None = None,
        resp: Floats | None = None,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self._pass(block, mixture, log_prob, resp, labels, None, None, None)

    def _pass(self, block: Block, mixture: Mixture, *outputs: Any) -> tuple[float, float]:
        components = mixture.components
        k, d = components.means.shape
        factors = self.shape.kernel_factors(components.factors, k, d)
        if self._pooled and outputs[-1] is not None:
            factors = np.repeat(factors, k, axis=0)  # the shared form gives no second moments
        background = -np.inf
        if mixture.background is not None:
            background = float(mixture.background + mixture.log_weights[k])
        return kernels.gaussian_pass(
            block.rows, block.weights, np.ascontiguousarray(mixture.log_weights[:k]),
            components.means, factors,
            self.shape.log_norms(components.factors, k, d), background, *outputs, block.n_threads,
        )  # fmt: skip

    def maximise(self, counts: Floats, summary: Moments, before: Gaussians) -> Gaussians:
        mass = counts + _TINY_MASS
        moved = np.zeros_like(before.means)
        if "means" not in self.fixed:
            moved = summary.first / mass[:, np.newaxis]
        means = before.means + moved
        if "covariances" in self.fixed:
            return replace(before, means=means)
        scatter = self.scatter_about(means, counts, summary, before)
        if self._pooled and scatter.shape[0] == 1:
            covariances = scatter[0] / mass.sum()
        else:
            covariances = self.shape.pooled(mass, scatter)
        if self.reg_covar is None:
            return self._floored(means, covariances)
        return self.with_covariances(means, self.shape.add_to_diagonal(covariances, self.reg_covar))

    def _floored(self, means: Floats, covariances: Floats) -> Gaussians:
        """Components whose covariances are at least the floor."""
        clipped, widened = self.shape.clip(covariances, self._rows.floor())
        components = self.with_covariances(means, clipped)
        return replace(components, floored=components.floored | widened)

    def scatter_about(
        self, means: Floats, counts: Floats, summary: Moments, before: Gaussians
    ) -> Floats:
        """Each component's sum of mass (x - mean)(x - mean)^T about new means; pooled: of all, (1, d, d)."""
        moved = means - before.means
        if summary.second is None:
            # Their sum over the components is the rows' own scatter, whoever is responsible.
            away = before.means - self._rows.mean
            cross = away.T @ summary.first
            known = self._rows.scatter - cross - cross.T - (away.T * counts) @ away
            back = moved.T @ summary.first
            return (known - back - back.T + (moved.T * counts) @ moved)[np.newaxis]
        if self._diagonal:
            mass = counts[:, np.newaxis]
            return summary.second - 2 * moved * summary.first + mass * np.square(moved)
        back = moved[:, :, np.newaxis] * summary.first[:, np.newaxis, :]
        outer = moved[:, :, np.newaxis] * moved[:, np.newaxis, :]
        return (
            summary.second
            - back
            - back.transpose(0, 2, 1)
            + counts[:, np.newaxis, np.newaxis] * outer
        )

    def expected_log_prob(
        self, components: Gaussians, counts: Floats, summary: Moments, before: Gaussians
    ) -> Floats:
        k, d = components.means.shape
        scatter = self.scatter_about(components.means, counts, summary, before)
        factors = self.shape.kernel_factors(components.factors, k, d)
        norms = self.shape.log_norms(components.factors, k, d)
        if self._diagonal:
            traces = (scatter * np.square(factors)).sum(axis=1)
        else:
            # tr(U^T S U) is the sum of S times U U^T.
            traces = (scatter * (factors @ factors.transpose(0, 2, 1))).sum(axis=(1, 2))
        if traces.size < k:  # only the pooled scatter is known: to each by its mass
            traces = traces * counts / counts.sum()
        return counts * norms - traces / 2

    def n_parameters(self, n_components: int) -> int:
        free = 0
        if "means" not in self.fixed:
            free += n_components * self.n_cols
        if "covariances" not in self.fixed:
            free += self.shape.n_parameters(n_components, self.n_cols)
        return free

    def draw(
        self, components: Gaussians, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        k, d = components.means.shape
        covariance = self.shape.full(components.covariances, k, d)[component]
        if self._diagonal:
            deviations = np.sqrt(np.diagonal(covariance))
            return rng.standard_normal((size, d)) * deviations + components.means[component]
        return rng.multivariate_normal(components.means[component], covariance, size)


def _along(mask: npt.NDArray[np.bool_], array: Floats) -> npt.NDArray[np.bool_]:
    """The mask, an entry a component or one for all, shaped to select from `array`."""
    if mask.shape[0] != array.shape[0]:
        return np.full(array.shape, mask[0])
    return mask.reshape((-1,) + (1,) * (array.ndim - 1))
