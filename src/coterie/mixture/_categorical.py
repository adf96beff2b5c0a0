"""The categorical family: columns that are one of some categories, one-hot in the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.mixture._family import Floats
from coterie.mixture._linear import LinearFamily, Sums

#: No probability is less than this, so that every logarithm is finite.
_LEAST = 2.0**-53


@dataclass(frozen=True)
class CategoricalFamily(LinearFamily):
    """log p_j(x) = sum_c log(theta_jc[x_c]) over the columns that are not missing.

    Rows are one-hot: column c has `sizes[c]` places and, unless it is missing, a one at its
    category. Components are the probabilities of the places, (k, sum of sizes). `alpha` is what a
    symmetric Dirichlet(1 + alpha) prior adds to every category.
    """

    alpha: float = 0.0
    sizes: tuple[int, ...] = ()

    @property
    def _starts(self) -> npt.NDArray[np.intp]:
        """Where each column begins among the places."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def n_components(self, components: Floats) -> int:
        return int(components.shape[0])

    def blank(self, n_components: int) -> Floats:
        return np.tile(1 / np.repeat(self.sizes, self.sizes), (n_components, 1))

    def within(self, probabilities: Floats) -> Floats:
        """The probabilities kept away from zero, summing to one in every column."""
        raised = np.maximum(probabilities, _LEAST)
        return raised / self._per_place(np.add.reduceat(raised, self._starts, axis=1))

    def _per_place(self, per_column: Floats) -> Floats:
        return np.repeat(per_column, self.sizes, axis=1)

    def linear_form(self, components: Floats) -> tuple[Floats, Floats]:
        return np.zeros(components.shape[0]), np.log(components)

    def maximise(self, counts: Floats, summary: Sums, before: Floats) -> Floats:
        seen = summary.first + self.alpha
        mass = self._per_place(np.add.reduceat(seen, self._starts, axis=1))
        # Without mass, or with the column missing in every row, there is nothing to learn from.
        return self.within(np.divide(seen, mass, out=before.copy(), where=mass > 0))

    def log_prior(self, components: Floats) -> float:
        return self.alpha * float(np.log(components).sum()) if self.alpha else 0.0

    def n_parameters(self, n_components: int) -> int:
        return n_components * (sum(self.sizes) - len(self.sizes))

    def draw(
        self, components: Floats, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        """Codes of the categories, (size, number of columns)."""
        stops = np.cumsum(self.sizes)
        codes = [
            rng.choice(n, size, p=components[component, stop - n : stop])
            for n, stop in zip(self.sizes, stops.tolist(), strict=True)
        ]
        return np.column_stack(codes).astype(np.float64)
