"""Weights as random variables: what the variational posterior of them expects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from scipy.special import betaln, digamma, gammaln

from coterie.mixture._family import Floats, Mixture


@dataclass(frozen=True)
class PosteriorWeights(ABC):
    """A rule for the weights that keeps a distribution over them in `Mixture.mixing`.

    `prior` is the concentration; log-weights are E_q[log w_j].
    """

    prior: float

    @abstractmethod
    def concentration(self, counts: Floats) -> Any:
        """Parameters of the posterior for these masses."""

    @abstractmethod
    def expected_log(self, concentration: Any) -> Floats:
        """E_q[log w_j]."""

    @abstractmethod
    def mean(self, concentration: Any) -> Floats:
        """E_q[w_j], made to sum to one."""

    @abstractmethod
    def divergence(self, concentration: Any) -> float:
        """KL(q(w) || p(w))."""

    @abstractmethod
    def log_prior_norm(self, n_components: int) -> float:
        """Logarithm of the prior's normalising constant."""

    def given(self, mixture: Mixture, concentration: Any) -> Mixture:
        """The mixture with this posterior of its weights."""
        log_weights = self.expected_log(concentration)
        return replace(mixture, log_weights=log_weights, mixing=concentration)

    def update(self, counts: Floats, mixture: Mixture) -> Mixture:
        return self.given(mixture, self.concentration(counts))

    def log_prior(self, mixture: Mixture) -> float:
        return -self.divergence(mixture.mixing)

    def shares(self, mixture: Mixture) -> Floats:
        return self.mean(mixture.mixing)

    def n_parameters(self, mixture: Mixture) -> NoReturn:
        raise AttributeError(
            "BayesianGaussianMixture: bic, aic and icl count the parameters of a "
            "maximum-likelihood fit; compare lower_bound_ or free_energy(X), or fit a "
            "GaussianMixture."
        )


class DirichletWeights(PosteriorWeights):
    """w ~ Dirichlet(a_0, ..., a_0): Bishop (2006), section 10.2."""

    def concentration(self, counts: Floats) -> Floats:
        return self.prior + counts

    def expected_log(self, concentration: Floats) -> Floats:
        return np.asarray(digamma(concentration) - digamma(concentration.sum()))

    def mean(self, concentration: Floats) -> Floats:
        return np.asarray(concentration / concentration.sum())

    def divergence(self, concentration: Floats) -> float:
        beyond = (concentration - self.prior) @ self.expected_log(concentration)
        return float(
            beyond + _log_dirichlet_norm(concentration) - self.log_prior_norm(concentration.size)
        )

    def log_prior_norm(self, n_components: int) -> float:
        return _log_dirichlet_norm(np.full(n_components, self.prior))


class StickBreaking(PosteriorWeights):
    """w_j = v_j prod_{l<j} (1 - v_l) with v_j ~ Beta(1, a_0): a Dirichlet process cut off at k.

    Blei & Jordan (2006). The concentration is the pair of both parameters of each Beta.
    """

    def concentration(self, counts: Floats) -> tuple[Floats, Floats]:
        later = counts[::-1].cumsum()[::-1] - counts
        return 1.0 + counts, self.prior + np.maximum(later, 0.0)

    def expected_log(self, concentration: tuple[Floats, Floats]) -> Floats:
        log_taken, log_left = self._expected_logs(concentration)
        return np.asarray(log_taken + np.cumsum(log_left) - log_left)

    def mean(self, concentration: tuple[Floats, Floats]) -> Floats:
        taken, left = concentration
        share = left / (taken + left)
        weights = taken / (taken + left) * np.append(1.0, np.cumprod(share[:-1]))
        return np.asarray(weights / weights.sum())

    def divergence(self, concentration: tuple[Floats, Floats]) -> float:
        taken, left = concentration
        log_taken, log_left = self._expected_logs(concentration)
        beyond = (taken - 1) @ log_taken + (left - self.prior) @ log_left
        return float(beyond - betaln(taken, left).sum() - self.log_prior_norm(taken.size))

    def log_prior_norm(self, n_components: int) -> float:
        return -n_components * float(betaln(1.0, self.prior))

    def _expected_logs(self, concentration: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """E_q[log v_j] and E_q[log(1 - v_j)]."""
        taken, left = concentration
        both = digamma(taken + left)
        return digamma(taken) - both, digamma(left) - both


#: The rules by the names `weight_concentration_prior_type=` takes.
POSTERIOR_WEIGHTS: dict[str, type[PosteriorWeights]] = {
    "dirichlet_process": StickBreaking,
    "dirichlet_distribution": DirichletWeights,
}


def _log_dirichlet_norm(concentration: Floats) -> float:
    return float(gammaln(concentration.sum()) - gammaln(concentration).sum())
