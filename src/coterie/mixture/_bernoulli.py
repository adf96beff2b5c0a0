"""The Bernoulli family: columns that are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.mixture._family import Floats
from coterie.mixture._linear import LinearFamily, Sums

#: No probability is closer to 0 or to 1 than this, so that every logarithm is finite. The M-step
#: is exact under that constraint: the objective is concave in each probability.
_LEAST = 2.0**-53


@dataclass(frozen=True)
class BernoulliFamily(LinearFamily):
    """log p_j(x) = sum_c x_c log(theta_jc) + (1 - x_c) log(1 - theta_jc).

    Components are the probabilities of a one, (k, d). `alpha` is what a Beta(1 + alpha, 1 + alpha)
    prior adds to the ones and to the zeros of every column; zero is maximum likelihood.
    """

    alpha: float = 0.0

    def n_components(self, components: Floats) -> int:
        return int(components.shape[0])

    def blank(self, n_components: int) -> Floats:
        return np.full((n_components, self.n_cols), 0.5)

    def within(self, probabilities: Floats) -> Floats:
        """The probabilities kept away from certainty."""
        return np.clip(probabilities, _LEAST, 1 - _LEAST)

    def linear_form(self, components: Floats) -> tuple[Floats, Floats]:
        log_zero = np.log1p(-components)
        return log_zero.sum(axis=1), np.log(components) - log_zero

    def maximise(self, counts: Floats, summary: Sums, before: Floats) -> Floats:
        mass = (counts + 2 * self.alpha)[:, np.newaxis]
        # A component without mass has nothing to learn from.
        ones = np.divide(summary.first + self.alpha, mass, out=before.copy(), where=mass > 0)
        return self.within(ones)

    def log_prior(self, components: Floats) -> float:
        if self.alpha == 0:
            return 0.0
        return self.alpha * float((np.log(components) + np.log1p(-components)).sum())

    def n_parameters(self, n_components: int) -> int:
        return n_components * self.n_cols

    def draw(
        self, components: Floats, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        chances = rng.uniform(size=(size, self.n_cols))
        return np.asarray(chances < components[component], dtype=np.float64)
