"""What a fit is made of: a model, rows, a start and a solver, each picked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie._history import Recorder
from coterie.data import Source
from coterie.mixture._family import Expectation, Family, Mixture
from coterie.mixture._mixing import Mixing


@dataclass(frozen=True)
class Model:
    """What is fitted: a family, a rule for the weights, and the objective they make together."""

    family: Family
    mixing: Mixing

    def maximise(self, expected: Expectation, mixture: Mixture) -> Mixture:
        """M-step: new weights and new components."""
        counts = expected.counts[: self.family.n_components(mixture.components)]
        components = self.family.maximise(counts, expected.summary, mixture.components)
        weighed = self.mixing.update(expected.counts, mixture)
        return Mixture(weighed.log_weights, components, weighed.background, weighed.mixing)

    def n_parameters(self, mixture: Mixture) -> int:
        """Free parameters of the components and of the weights."""
        own = self.family.count_parameters(mixture.components)
        return own + self.mixing.n_parameters(mixture)

    def log_prior(self, mixture: Mixture) -> float:
        """Log-density of the priors, up to a constant."""
        return self.family.log_prior(mixture.components) + self.mixing.log_prior(mixture)

    def gains(self, mixture: Mixture, expected: Expectation, before: Mixture) -> Any:
        """E_q[log p(x, z=j)] of each component, the background last; q is as `before` made it."""
        n_components = self.family.n_components(mixture.components)
        counts = expected.counts
        fits = self.family.expected_log_prob(
            mixture.components, counts[:n_components], expected.summary, before.components
        )
        if fits is None:
            return None
        if mixture.background is not None:
            fits = np.append(fits, counts[-1] * mixture.background)
        # A component without mass has log-weight minus infinity, and counts nothing.
        return fits + counts * np.where(counts > 0, mixture.log_weights, 0.0)

    def free_energy(self, mixture: Mixture, expected: Expectation, before: Mixture) -> float | None:
        """F of `mixture` under the responsibilities of `before`, less the log-prior.

        None where the family cannot tell it from a summary.
        """
        gains = self.gains(mixture, expected, before)
        if gains is None:
            return None
        return -float(gains.sum()) + expected.neg_entropy - self.log_prior(mixture)


#: What a run is judged by, from the objective after both half-steps and the total weight.
Bound = Callable[[float, float, float], float]


def mean_log_lik(after_expect: float, after_maximise: float, total_weight: float) -> float:
    """Log-likelihood (with a prior: log-posterior) per row at the E-step: scikit-learn's bound."""
    return -after_expect / total_weight


class Repair(Protocol):
    """Mends a mixture that degenerates; tells the recorder what it did."""

    def __call__(
        self, mixture: Mixture, expected: Expectation, recorder: Recorder, n_iter: int
    ) -> Mixture | None:
        """The mended mixture, or None where nothing was wrong."""
        ...


class Accelerator(Protocol):
    """Proposes a mixture farther along than the plain step."""

    def __call__(self, before: Mixture, after: Mixture) -> Mixture | None:
        """A bolder step than from `before` to `after`, or None to go on plainly."""
        ...


@dataclass(frozen=True)
class EMRun:
    """Where the descent ended: `bound` is what it is judged by, `bounds` that of each iteration."""

    mixture: Mixture
    n_iter: int
    settled: bool
    bound: float
    bounds: list[float]


#: Where a run begins, by random numbers.
Begin = Callable[[np.random.RandomState, Recorder], Mixture]
#: A way down: from a task, a start and the bound it is known to have there.
Solver = Callable[["Task", Mixture, Recorder, float], EMRun]


@dataclass(frozen=True)
class Task:
    """A model, the rows it is fitted to, and how.

    `begin` makes the start of a run, `solve` descends from it until the bound changes by less than
    `tol` or `max_iter` iterations are over. `shown` is what of a mixture the callback and
    ``keep="parameters"`` get, `kept` what the latter gets besides, by name; `bound` is what `tol`
    is compared with. Of one run each: `repair` looks at the mixture after every M-step;
    `coordinates` writes mixtures as vectors for the solvers and accelerators that need them;
    `accelerate` proposes bolder steps, and one that would raise F is taken back; `rng` are random
    numbers that the starts do not notice. `draws` tells whether starts need any of their own.
    """

    blocks: Source
    model: Model
    max_iter: int
    tol: float
    begin: Begin
    solve: Solver
    shown: Callable[[Mixture], Any]
    kept: Callable[[Mixture], Mapping[str, Any]] = lambda mixture: {}
    bound: Bound = mean_log_lik
    repair: Callable[[], Repair | None] = lambda: None
    coordinates: Callable[[Mixture], Any] = lambda like: None
    accelerate: Callable[[Any], Accelerator | None] = lambda coordinates: None
    rng: Callable[[], np.random.RandomState] = np.random.RandomState
    draws: bool = True

    @property
    def total_weight(self) -> float:
        """How many rows there are, each as often as it counts."""
        weights = self.blocks.weights
        return float(self.blocks.n_rows if weights is None else weights.sum())
