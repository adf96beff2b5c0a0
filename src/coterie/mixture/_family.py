"""What EM asks of a base distribution, and the plain way to answer it, a tile of rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from coterie.data import Block

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """Where a fit stands: how likely each component is, and what each looks like.

    `log_weights` has an entry per component and, where there is a uniform background, a last one
    for it; `background` is its log-density. `components` is the family's own record, `mixing`
    what the rule for the weights remembers.
    """

    log_weights: Floats
    components: Any
    background: float | None = None
    mixing: Any = None

    @property
    def weights(self) -> Floats:
        """Mixing weights, those of the background included."""
        return np.exp(self.log_weights)


@dataclass(frozen=True)
class Expectation:
    """What the E-step over some rows hands to the M-step; `+` joins two sets of rows.

    `log_lik` is sum_i w_i log p(x_i), `neg_entropy` E_q[log q] over all hidden variables, `counts`
    the mass of each component (the background last), `summary` the family's statistics.
    """

    log_lik: float
    neg_entropy: float
    counts: Floats
    summary: Any

    @property
    def energy(self) -> float:
        """E_q[-log p(x, z)]: the free energy is this plus `neg_entropy`, and minus `log_lik`."""
        return -self.log_lik - self.neg_entropy

    def __add__(self, other: Expectation) -> Expectation:
        return Expectation(
            self.log_lik + other.log_lik,
            self.neg_entropy + other.neg_entropy,
            self.counts + other.counts,
            self.summary + other.summary,
        )


class Likelihood(ABC):
    """What the E-step asks of a base distribution.

    Only what is abstract must be written; `expect` and `posterior` may be replaced by a fused pass.
    """

    #: Numbers (rows times components or columns) a tile of the plain passes holds.
    tile_numbers = 1 << 18

    def n_components(self, components: Any) -> int:
        """How many components these are."""
        return len(next(iter(components.values())))

    @abstractmethod
    def log_prob(self, components: Any, rows: Any) -> Floats:
        """Log-density of every row under every component, shape (n_rows, n_components).

        Minus infinity where a component cannot make the row.
        """

    @abstractmethod
    def summarise(self, components: Any, rows: Any, mass: Floats) -> Any:
        """Sufficient statistics of rows with a mass (weight times responsibility) per component.

        `mass` is (n_rows, n_components), `components` those that made the responsibilities (at the
        start there are none: `blank`, and None in a family of your own).
        """

    def latent_neg_entropy(self, summary: Any) -> float:
        """E_q[log q] of hidden variables besides the component (none: zero)."""
        return 0.0

    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        """E-step over a block; no array of n_rows x n_components is ever held."""
        parts = (self._expect_tile(tile, mixture) for tile in self.tiles(block, mixture))
        total = next(parts)
        for part in parts:
            total = total + part
        return total

    def posterior(
        self,
        block: Block,
        mixture: Mixture,
        *,
        log_prob: Floats | None = None,
        resp: Floats | None = None,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        """Fill, a row each, the log-density, the responsibilities, the likeliest component."""
        for tile in self.tiles(block, mixture):
            span = slice(tile.start - block.start, tile.start - block.start + tile.n_rows)
            joint = self.log_joint(mixture, tile.rows)
            norm = logsumexp(joint, axis=1)
            n_components = self.n_components(mixture.components)
            if log_prob is not None:
                log_prob[span] = norm
            if resp is not None:
                resp[span] = np.exp(joint - norm[:, np.newaxis])[:, :n_components]
            if labels is not None:
                best = np.argmax(joint, axis=1)
                labels[span] = np.where(best == n_components, -1, best)

    def log_joint(self, mixture: Mixture, rows: Any) -> Floats:
        """log p(x, z) of every row and component; the background, if any, is the last column."""
        joint = self.log_prob(mixture.components, rows)
        if mixture.background is not None:
            flat = np.full((joint.shape[0], 1), mixture.background)
            joint = np.hstack([joint, flat])
        return joint + mixture.log_weights

    def tiles(self, block: Block, mixture: Mixture) -> Iterator[Block]:
        """The block in pieces small enough to hold an entry per component for every row."""
        wide = max(len(mixture.log_weights), int(block.rows.shape[1]))
        step = max(64, self.tile_numbers // wide)
        for start in range(0, block.n_rows, step):
            stop = min(block.n_rows, start + step)
            weights = None if block.weights is None else block.weights[start:stop]
            yield Block(block.rows[start:stop], weights, block.start + start, block.n_threads)

    def _expect_tile(self, tile: Block, mixture: Mixture) -> Expectation:
        joint = self.log_joint(mixture, tile.rows)
        norm = logsumexp(joint, axis=1)
        log_resp = joint - norm[:, np.newaxis]
        mass = np.exp(log_resp)
        if tile.weights is not None:
            mass *= tile.weights[:, np.newaxis]
        # A responsibility of zero has a logarithm of minus infinity, and counts nothing.
        terms = mass * np.where(mass > 0, log_resp, 0.0)
        log_lik = norm.sum() if tile.weights is None else norm @ tile.weights
        n_components = self.n_components(mixture.components)
        summary = self.summarise(mixture.components, tile.rows, mass[:, :n_components])
        return Expectation(
            float(log_lik),
            float(terms.sum()) + self.latent_neg_entropy(summary),
            mass.sum(axis=0),
            summary,
        )


class Family(Likelihood):
    """A base distribution: everything EM needs to know of it.

    One of your own, to be fitted by `FamilyMixture`, says three things: `log_prob`, `summarise` and
    `maximise`. It may say more: `log_prior`, `n_parameters`, `draw`, `start`, and
    `expected_log_prob` if the free energy after the M-step should be known too. Components are
    then a dict of arrays, parameters by name with an entry per component along the first axis, and
    a summary is an array or a dict of arrays, which are added over the rows. Rows come a tile at a
    time, as float64 of shape (n_rows, n_features). `docs/families.md` has an example.

    The package's own families choose frozen records for both, and fuse `expect` and `posterior`.
    """

    #: A model file holds no code: in its place stands nothing.
    _is_code = True

    def blank(self, n_components: int) -> Any:
        """Components that say nothing: what `summarise` refers to before there are any."""
        raise NotImplementedError

    def start(self, rows: Any, n_components: int, rng: np.random.RandomState) -> Any:
        """Components to begin with, for ``init_params="family"``."""
        raise NotImplementedError

    @abstractmethod
    def maximise(self, counts: Floats, summary: Any, before: Any) -> Any:
        """The M-step: the best components for a summary made with `before`."""

    def expected_log_prob(
        self, components: Any, counts: Floats, summary: Any, before: Any
    ) -> Floats | None:
        """E_q[log p(x | z=j)] over all rows, per component, from a summary made with `before`.

        None where a summary does not tell.
        """
        return None

    @property
    def descends(self) -> bool:
        """Whether the M-step minimises the free energy, so that it may never rise."""
        return True

    def exact(self, components: Any) -> bool:
        """Whether the M-step that made these did."""
        return True

    def rounding(self, components: Any, counts: Floats, before: Any) -> float:
        """How much the rounding of one number may add to F in the M-step, beside its own size."""
        return 0.0

    def log_prior(self, components: Any) -> float:
        """Log-density of the prior, up to a constant (maximum likelihood: zero)."""
        return 0.0

    def n_parameters(self, n_components: int) -> int:
        """Free parameters of so many components."""
        raise NotImplementedError

    def count_parameters(self, components: Any) -> int:
        """Free parameters of these components."""
        return self.n_parameters(self.n_components(components))

    def draw(self, components: Any, component: int, size: int, rng: np.random.RandomState) -> Any:
        """Random rows of one component (-1: the background)."""
        raise NotImplementedError
