"""The Gaussian family: moments in, means and covariances out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import Block
from coterie.mixture._covariance import Shape, clip_matrices, diagonal_of
from coterie.mixture._family import Expectation, Family, Floats, Mixture
from coterie.mixture._mixing import Mixing
from coterie.mixture._noise import Box
from coterie.mixture._overview import Overview
from coterie.mixture._prior import Prior

#: scikit-learn adds this to every component's mass.
_TINY_MASS = 10 * np.finfo(np.float64).eps
#: Units in the last place that sums of products may be wrong by, a column.
_ROUNDINGS = 2
#: However much of a scatter was subtracted, what is left tells directions this far apart.
_MOST_BLUR = 1e-2


@dataclass(frozen=True)
class Gaussians:
    """Means (k, d), covariances and precision factors in the shape of the family.

    `floored` counts the directions in which each covariance had to be widened to the floor.
    """

    means: Floats
    covariances: Floats
    factors: Floats
    floored: npt.NDArray[np.intp]


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
class GaussianFamily(Family):
    """Gaussians of one covariance shape.

    `reg_covar` is added to every variance as scikit-learn does; None instead floors each
    covariance relative to the rows' own, which keeps the M-step exact under that constraint. The
    floor also catches what is not positive definite under any setting. `fixed` names what the
    M-step leaves alone: "means", "covariances". With a `prior` the M-step maximises the posterior.
    `box` is what a uniform background fills. `sampled` says that only some of the rows are looked
    at, so that nothing is known of their sums.
    """

    shape: Shape
    n_cols: int
    overview: Overview | None = None  # not needed once fitted
    reg_covar: float | None = None
    fixed: frozenset[str] = field(default_factory=frozenset)
    prior: Prior | None = None
    box: Box | None = None
    sampled: bool = False

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
        one = self.with_covariances(means[:1], self.shape.repeat(self._rows.covariance, 1))
        if self._pooled:
            return replace(one, means=means, floored=np.repeat(one.floored, n_components))
        return Gaussians(
            means,
            np.repeat(one.covariances, n_components, axis=0),
            np.repeat(one.factors, n_components, axis=0),
            np.repeat(one.floored, n_components),
        )

    def with_covariances(self, means: Floats, covariances: Floats, held: Any = False) -> Gaussians:
        """Components with these parameters, floored: all, or what has no factor or is `held`."""
        all_of_them = self.reg_covar is None and "covariances" not in self.fixed
        least = 0.0 if self.reg_covar is None else self._blurred(covariances, means.shape[0])
        factors, singular = self.shape.factor(covariances, least)
        if all_of_them:
            low = np.ones_like(singular)
            fine = self.shape.exceed(covariances, self._rows.floor)
        else:
            low = singular | np.resize(held, singular.shape) if np.any(held) else singular
            fine = not low.any()
        if fine and not singular.any():
            return Gaussians(means, covariances, factors, np.zeros(means.shape[0], dtype=np.intp))
        clipped, floored = self.shape.clip(covariances, self._rows.floor)
        if self.reg_covar is not None and not self.shape.diagonal:
            clipped, in_own_units = self._clip_blurred(clipped, least)
            floored = np.maximum(floored, in_own_units)
        covariances = np.where(_along(low, covariances), clipped, covariances)
        if singular.any() or (floored * low).any():  # otherwise nothing has changed
            factors, _ = self.shape.factor(covariances)
        return Gaussians(means, covariances, factors, np.resize(floored * low, means.shape[0]))

    def _blurred(self, covariances: Floats, n_components: int) -> float:
        """The share of a variance that rounding may have made.

        Sums of products of the rows are as good as the rows' type. Where the scatter of all rows
        is known and that between the means subtracted, what is left has the rounding of the whole.
        """
        if self.shape.diagonal or self.overview is None:
            return 0.0
        rounding = _ROUNDINGS * self.n_cols * self._rows.eps
        if not self._pooled:
            return rounding
        own = self.shape.variances(covariances, n_components, self.n_cols)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.diagonal(self._rows.covariance) / own
        grown = np.max(share, initial=1.0, where=np.isfinite(share) & (share > 0))
        return float(min(rounding * grown, _MOST_BLUR))

    def _clip_blurred(
        self, covariances: Floats, least: float
    ) -> tuple[Floats, npt.NDArray[np.intp]]:
        """The covariances with no direction that rounding could have made.

        So it is not the last bits that tell whether a covariance is singular.
        """
        clipped = covariances.reshape(-1, self.n_cols, self.n_cols).copy()
        n_raised = np.zeros(len(clipped), dtype=np.intp)
        for j, own in enumerate(clipped):
            floor = np.diag(least * np.diagonal(own))
            clipped[j : j + 1], n_raised[j : j + 1] = clip_matrices(own[np.newaxis], floor)
        return clipped.reshape(covariances.shape), n_raised

    def log_norms(self, components: Gaussians) -> Floats:
        """What each component's log-density is at its mean."""
        k, d = components.means.shape
        return self.shape.log_norms(components.factors, k, d)

    def log_prob(self, components: Gaussians, rows: Any) -> Floats:
        norms = self.log_norms(components)
        return np.asarray(norms - self.sq_distances(components, rows) / 2)

    def sq_distances(self, components: Gaussians, rows: Any) -> Floats:
        """Squared Mahalanobis distance of every row to every mean."""
        k, d = components.means.shape
        factors = self.shape.kernel_factors(components.factors, k, d)
        rows = np.asarray(rows, dtype=np.float64)
        sq_distances = np.empty((rows.shape[0], k))
        for j in range(k):
            own = factors[j % factors.shape[0]]
            centred = rows - components.means[j]
            white = centred * own if own.ndim == 1 else centred @ own
            with np.errstate(over="ignore"):
                sq_distances[:, j] = np.square(white).sum(axis=1)
        return sq_distances

    def summarise(self, components: Gaussians, rows: Any, mass: Floats) -> Moments:
        k, d = components.means.shape
        rows = np.asarray(rows, dtype=np.float64)
        diagonal = self.shape.diagonal
        first, second = np.empty((k, d)), np.empty((k, d) if diagonal else (k, d, d))
        for j in range(k):
            own, heavy = mass[:, j], rows
            here = np.flatnonzero(own)
            if here.size < own.size:  # as where rows have one label each
                own, heavy = own[here], rows[here]
            centred = heavy - components.means[j]
            weighted = centred * own[:, np.newaxis]
            first[j] = weighted.sum(axis=0)
            second[j] = (weighted * centred).sum(axis=0) if diagonal else weighted.T @ centred
        return Moments(first, second)

    def _knows_second(self, mixture: Mixture) -> bool:
        """Whether the sum of all second moments is known beforehand: the rows' own scatter."""
        return self._pooled and mixture.background is None and not self.sampled

    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        """One fused native pass: densities, responsibilities and moments tile by tile."""
        k, d = mixture.components.means.shape
        counts, first = np.empty(k + 1), np.empty((k, d))
        second = None
        if not self._knows_second(mixture):
            second = np.empty((k, d) if self.shape.diagonal else (k, d, d))
        run, inputs = self._inputs(block, mixture, moments=second is not None)
        log_lik, neg_entropy = run(
            *inputs, None, None, None, counts, first, second, block.n_threads
        )
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
        run, inputs = self._inputs(block, mixture, moments=False)
        run(*inputs, log_prob, resp, labels, None, None, None, block.n_threads)

    def _inputs(
        self, block: Block, mixture: Mixture, *, moments: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        """The kernel, and what it is given; second `moments` may be asked of it."""
        components = mixture.components
        k, d = components.means.shape
        factors = self.shape.kernel_factors(components.factors, k, d)
        if self._pooled and moments:
            factors = np.repeat(factors, k, axis=0)  # the shared form gives no second moments
        background = -np.inf
        if mixture.background is not None:
            background = float(mixture.background + mixture.log_weights[k])
        return kernels.gaussian_pass, (
            block.rows, block.weights, np.ascontiguousarray(mixture.log_weights[:k]),
            components.means, factors, self.log_norms(components), background,
        )  # fmt: skip

    def maximise(self, counts: Floats, summary: Moments, before: Gaussians) -> Gaussians:
        mass = counts + _TINY_MASS
        means = before.means + self._moves(mass, summary, before)
        if "covariances" in self.fixed:
            return replace(before, means=means)
        scatter = self.scatter_about(means, counts, summary, before)
        if self.prior is not None:
            seen_before = self.prior.scatter(means)
            mass = mass + self.prior.mass
            scatter = scatter + (
                seen_before.sum(axis=0) if scatter.shape[0] < mass.size else seen_before
            )
        if self._pooled and scatter.shape[0] == 1:
            covariances = scatter[0] / mass.sum()
        else:
            covariances = self.shape.pooled(mass, scatter)
        return self.regularised(means, covariances, before)

    def regularised(self, means: Floats, covariances: Floats, before: Gaussians) -> Gaussians:
        """Components whose covariances are widened as `reg_covar` says.

        One that needed the floor keeps it until it lies above: on the brink of a singular
        covariance it would be widened and let go by turns.
        """
        if self.reg_covar is not None:
            covariances = self.shape.add_to_diagonal(covariances, self.reg_covar)
        return self.with_covariances(means, covariances, before.floored > 0)

    def _moves(self, mass: Floats, summary: Moments, before: Gaussians) -> Floats:
        """How far each mean moves."""
        if "means" in self.fixed:
            return np.zeros_like(before.means)
        if self.prior is not None:
            return self.prior.shift(summary.first, mass, before.means)
        return summary.first / mass[:, np.newaxis]

    @property
    def descends(self) -> bool:
        return not self.reg_covar

    def exact(self, components: Gaussians) -> bool:
        return self.reg_covar is None or not components.floored.any()

    def rounding(self, components: Gaussians, counts: Floats, before: Gaussians) -> float:
        """Scatter about the old means is rounded, then seen in units of the new covariances.

        So are the means themselves, which may lie far from zero.
        """
        k, d = components.means.shape
        variances = self.shape.variances(components.covariances, k, d)
        precisions = self.shape.precisions(components.factors)
        if self.shape.diagonal:
            precisions = np.broadcast_to(precisions.reshape(k, -1), (k, d))
        else:
            precisions = np.diagonal(np.broadcast_to(precisions, (k, d, d)), axis1=1, axis2=2)
        seen = variances + np.square(components.means - before.means)
        seen = seen + np.finfo(np.float64).eps * np.square(components.means)
        if self._pooled and self.overview is not None:
            seen = seen + diagonal_of(self.overview.covariance)
        return float((counts[:, np.newaxis] * seen * precisions).sum())

    def log_prior(self, components: Gaussians) -> float:
        if self.prior is None:
            return 0.0
        k, d = components.means.shape
        scatter = self.prior.scatter(components.means)
        log_dets = -2 * np.log(self.shape.diagonals(components.factors, k, d)).sum()
        traces = self.traces(components, scatter).sum()
        return -0.5 * float(self.prior.mass * log_dets + traces)

    def traces(self, components: Gaussians, scatter: Floats) -> Floats:
        """tr(Sigma^-1 S) of each component, or of the shared covariance."""
        k, d = components.means.shape
        factors = self.shape.kernel_factors(components.factors, k, d)
        if self.shape.diagonal:
            return np.asarray((scatter * np.square(factors)).sum(axis=1))
        # tr(U^T S U) is the sum of S times U U^T.
        precisions = factors @ factors.transpose(0, 2, 1)
        return np.asarray((scatter * precisions).sum(axis=(1, 2)))

    def scatter_about(
        self, means: Floats, counts: Floats, summary: Moments, before: Gaussians
    ) -> Floats:
        """Each component's scatter, mass (x - m)(x - m)^T, about new means; pooled: (1, d, d)."""
        moved = means - before.means
        if summary.second is None:
            # Their sum over the components is the rows' own scatter, whoever is responsible.
            away = before.means - self._rows.mean
            cross = away.T @ summary.first
            known = self._rows.scatter - cross - cross.T - (away.T * counts) @ away
            back = moved.T @ summary.first
            return (known - back - back.T + (moved.T * counts) @ moved)[np.newaxis]
        if self.shape.diagonal:
            mass = counts[:, np.newaxis]
            return summary.second - 2 * moved * summary.first + mass * np.square(moved)
        scatter = np.empty(summary.second.shape)
        kernels.scatter_about(counts, summary.first, summary.second, moved, scatter)
        return scatter

    def expected_log_prob(
        self, components: Gaussians, counts: Floats, summary: Moments, before: Gaussians
    ) -> Floats:
        scatter = self.scatter_about(components.means, counts, summary, before)
        norms = self.log_norms(components)
        traces = self.traces(components, scatter)
        if traces.size < counts.size:  # only the pooled scatter is known: to each by its mass
            traces = traces * counts / counts.sum()
        return counts * norms - traces / 2

    def n_parameters(self, n_components: int) -> int:
        free = 0
        if "means" not in self.fixed:
            free += n_components * self.n_cols
        if "covariances" not in self.fixed:
            free += self.shape.n_parameters(n_components, self.n_cols)
        return free

    def kept(self, mixing: Mixing, mixture: Mixture) -> dict[str, Floats]:
        """Weights without the background's and covariances (k, d, d), for a history."""
        components = mixture.components
        k, d = components.means.shape
        full = np.broadcast_to(self.shape.full(components.covariances, k, d), (k, d, d))
        return {"weights": mixing.shares(mixture)[:k].copy(), "covariances": full.copy()}

    def draw(
        self, components: Gaussians, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        if component == -1:
            assert self.box is not None, "a background has a box"
            return self.box.draw(size, rng)
        k, d = components.means.shape
        if not np.isfinite(components.covariances).all():
            raise ValueError(
                "sample: covariances_ holds NaN or infinity, so there is nothing to draw from; "
                "fit the model anew."
            )
        scale = np.sqrt(self.shape.variances(components.covariances, k, d)[component])
        if self.shape.diagonal:
            white = rng.standard_normal((size, d))
        else:
            covariance = self.shape.full(components.covariances, k, d)[component]
            # Without need nothing is scaled: the draws are scikit-learn's.
            if scale.max() <= 1e6 * scale.min():
                scale = np.ones(d)
            correlation = covariance / scale / scale[:, np.newaxis]
            white = rng.multivariate_normal(np.zeros(d), correlation, size, check_valid="ignore")
        return white * scale + components.means[component]


def _along(mask: npt.NDArray[np.bool_], array: Floats) -> npt.NDArray[np.bool_]:
    """The mask, an entry per component or one for all, shaped to select from `array`."""
    if mask.shape[0] != array.shape[0]:
        return np.full(array.shape, mask[0])
    return mask.reshape((-1,) + (1,) * (array.ndim - 1))
