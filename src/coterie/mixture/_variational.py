"""Gaussians as random variables: the variational posterior of means and precisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, multigammaln

from coterie.mixture._family import Floats
from coterie.mixture._gaussian import GaussianFamily, Gaussians, Moments
from coterie.mixture._prior import Prior


@dataclass(frozen=True)
class Posteriors(Gaussians):
    """q(mu, Lambda) of each component: mu ~ N(mean, (beta Lambda)^-1), Lambda ~ Wishart(nu, W).

    `covariances` are (nu W)^-1, so that `factors` are those of E_q[Lambda] = nu W.
    """

    mean_precision: Floats
    degrees_of_freedom: Floats


@dataclass(frozen=True)
class VariationalFamily(GaussianFamily):
    """Gaussians under a normal-Wishart prior: Bishop (2006), section 10.2.

    `prior` holds its parameters, `mass` being the degrees of freedom and `scale` W_0^-1. The
    density of a row is exp E_q[log N(x | mu, Lambda^-1)], so the E-step is that of Gaussians with
    other norms. The posterior is updated as the maximum of a log-posterior would be, with other
    constants. With the log-prior being -KL(q || p), the free energy is minus the bound on the
    evidence.

    Covariances that are tied, diagonal or spherical mean Wisharts whose W is the same for all
    components, diagonal or a multiple of the unit matrix. The bound is that of the full model under
    this restriction of q, and the update still its maximum.

    `blur` is a variance that every row has in the M-step, though not in the E-step: what
    `reg_covar` is to scikit-learn. Only without it do both descend the same objective.
    """

    blur: float = 0.0

    @property
    def descends(self) -> bool:
        return self.blur == 0

    @property
    def _prior(self) -> Prior:
        assert self.prior is not None, "there is no posterior without a prior"
        return self.prior

    def posteriors(self, components: Gaussians, counts: Floats) -> Posteriors:
        """The components, with as much certainty as so many rows give."""
        rows = np.full_like(counts, counts.mean()) if self._pooled else counts
        return Posteriors(
            components.means,
            components.covariances,
            components.factors,
            components.floored,
            mean_precision=self._prior.mean_precision + counts,
            degrees_of_freedom=self._prior.mass + rows,
        )

    def blank(self, n_components: int) -> Posteriors:
        return self.posteriors(super().blank(n_components), np.zeros(n_components))

    def maximise(self, counts: Floats, summary: Moments, before: Gaussians) -> Posteriors:
        return self.posteriors(super().maximise(counts, summary, before), counts)

    def scatter_about(
        self, means: Floats, counts: Floats, summary: Moments, before: Gaussians
    ) -> Floats:
        scatter = super().scatter_about(means, counts, summary, before)
        if self.shape.diagonal:
            return scatter + self.blur * counts[:, np.newaxis]
        rows = counts if scatter.shape[0] == counts.size else counts.sum(keepdims=True)
        return scatter + self.blur * rows[:, np.newaxis, np.newaxis] * np.eye(self.n_cols)

    def rounding(self, components: Gaussians, counts: Floats, before: Gaussians) -> float:
        """The divergence from the prior is rounded too, however little the rows weigh."""
        log_dets = np.abs(self._log_dets(components)) + self.n_cols  # type: ignore[arg-type]
        by_prior = float((self._prior.mass * log_dets).sum())
        return super().rounding(components, counts, before) + by_prior

    def log_norms(self, components: Gaussians) -> Floats:
        assert isinstance(components, Posteriors)
        d = self.n_cols
        spread = d / components.mean_precision + d * np.log(2 * np.pi)
        return np.asarray(self._log_dets(components) - spread) / 2

    def _log_dets(self, components: Posteriors) -> Floats:
        """E_q[log |Lambda|] of each component."""
        d, nu = self.n_cols, components.degrees_of_freedom
        terms = digamma((nu - np.arange(d)[:, np.newaxis]) / 2).sum(axis=0)
        return np.asarray(terms + d * np.log(2) + self._log_det_scales(components))

    def _log_det_scales(self, components: Posteriors) -> Floats:
        """log |W| of each component."""
        k, d = components.means.shape
        log_dets = 2 * np.log(self.shape.diagonals(components.factors, k, d)).sum(axis=1)
        return np.asarray(log_dets - d * np.log(components.degrees_of_freedom))

    def log_prior(self, components: Gaussians) -> float:
        """Minus the divergence of the posterior from the prior."""
        assert isinstance(components, Posteriors)
        prior, d = self._prior, self.n_cols
        beta, nu = components.mean_precision, components.degrees_of_freedom
        ratio = prior.mean_precision / beta
        by_means = d * (np.log(ratio) - ratio + 1) / 2
        # E_q of the prior's exponents: tr(nu W (W_0^-1 + beta_0 (m - m_0)(m - m_0)^T)).
        traces = self.traces(components, prior.scatter(components.means))
        by_precisions = (
            ((prior.mass - nu) * self._log_dets(components) + nu * d - traces) / 2
            + self.log_prior_norm()
            - log_wishart_norm(nu, self._log_det_scales(components), d)
        )
        return float((by_means + by_precisions).sum())

    def log_prior_norm(self) -> float:
        """Logarithm of the normalising constant of the prior's Wishart."""
        scale = self._prior.scale
        log_det = np.linalg.slogdet(scale)[1] if scale.ndim == 2 else np.log(scale).sum()
        return float(log_wishart_norm(np.asarray(self._prior.mass), -log_det, self.n_cols))


def log_wishart_norm(nu: Floats, log_det_scale: Floats, n_cols: int) -> Floats:
    """log B(W, nu): Bishop (2006), equation B.79."""
    halves = nu / 2 * (log_det_scale + n_cols * np.log(2))
    return np.asarray(-halves - multigammaln(nu / 2, n_cols))
