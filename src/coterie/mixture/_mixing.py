"""Rules for the mixing weights: how the M-step takes them from the components' masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from coterie.mixture._family import Floats, Mixture


class Mixing(Protocol):
    """A rule for the weights."""

    def update(self, counts: Floats, mixture: Mixture) -> Mixture:
        """The mixture with new weights for these masses."""
        ...

    def log_prior(self, mixture: Mixture) -> float:
        """Log-density of the weights' prior, up to a constant."""
        ...

    def shares(self, mixture: Mixture) -> Floats:
        """How often each component occurs, the background last."""
        ...

    def n_parameters(self, mixture: Mixture) -> int:
        """How many weights are free."""
        ...


def log_shares(counts: Floats) -> Floats:
    """Logarithm of each share; minus infinity where there is nothing."""
    with np.errstate(divide="ignore"):
        return np.log(counts / counts.sum())


@dataclass(frozen=True)
class Shares:
    """Maximum likelihood, or the maximum under a symmetric Dirichlet prior.

    w_j is proportional to N_j + concentration - 1; a concentration of one is no prior.
    """

    concentration: float = 1.0

    def update(self, counts: Floats, mixture: Mixture) -> Mixture:
        return replace(mixture, log_weights=log_shares(counts + (self.concentration - 1)))

    def log_prior(self, mixture: Mixture) -> float:
        if self.concentration == 1:
            return 0.0
        return (self.concentration - 1) * float(mixture.log_weights.sum())

    def shares(self, mixture: Mixture) -> Floats:
        return mixture.weights

    def n_parameters(self, mixture: Mixture) -> int:
        return mixture.log_weights.size - 1


@dataclass(frozen=True)
class Fixed(Shares):
    """Weights that stay as they were given."""

    def update(self, counts: Floats, mixture: Mixture) -> Mixture:
        return mixture

    def n_parameters(self, mixture: Mixture) -> int:
        return 0
