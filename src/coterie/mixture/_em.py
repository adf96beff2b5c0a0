"""EM: the one loop that fits every mixture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from coterie._config import get_options
from coterie._history import Recorder
from coterie.data import Blocks
from coterie.errors import InvariantError
from coterie.mixture._family import Expectation, Family, Floats, Mixture
from coterie.mixture._mixing import Mixing


@dataclass(frozen=True)
class Model:
    """What is fitted: a family, a rule for the weights, and the objective they make together."""

    family: Family
    mixing: Mixing

    def expect(self, blocks: Blocks, mixture: Mixture) -> Expectation:
        """E-step over all rows."""
        return blocks.total(self.family.expect, mixture)

    def maximise(self, expected: Expectation, mixture: Mixture) -> Mixture:
        """M-step: new weights and new components."""
        counts = expected.counts[: self.family.n_components(mixture.components)]
        components = self.family.maximise(counts, expected.summary, mixture.components)
        return replace(self.mixing.update(expected.counts, mixture), components=components)

    def log_prior(self, mixture: Mixture) -> float:
        """Log-density of the priors, up to a constant."""
        return self.family.log_prior(mixture.components) + self.mixing.log_prior(mixture)

    def gains(self, mixture: Mixture, expected: Expectation, before: Mixture) -> Floats:
        """E_q[log p(x, z=j)] of each component, the background last; q is as `before` made it."""
        n_components = self.family.n_components(mixture.components)
        counts = expected.counts
        fits = self.family.expected_log_prob(
            mixture.components, counts[:n_components], expected.summary, before.components
        )
        if mixture.background is not None:
            fits = np.append(fits, counts[-1] * mixture.background)
        # A component without mass has log-weight minus infinity, and counts nothing.
        return fits + counts * np.where(counts > 0, mixture.log_weights, 0.0)

    def free_energy(self, mixture: Mixture, expected: Expectation, before: Mixture) -> float:
        """F of `mixture` under the responsibilities of `before`, less the log-prior."""
        gain = float(self.gains(mixture, expected, before).sum())
        return -gain + expected.neg_entropy - self.log_prior(mixture)


#: What rounding in the passes may add to F, relative to its terms, by the rows' type.
_SLACK = {"float64": 1e-8, "float32": 1e-5}

#: Relative to its size, in the rows' precision: a fall of the bound that only rounding makes.
_ULPS = 16

#: What a run is judged by, from the objective after both half-steps and the total weight.
Bound = Callable[[float, float, float], float]


def mean_log_lik(after_expect: float, after_maximise: float, total_weight: float) -> float:
    """Log-likelihood (with a prior: log-posterior) a row at the E-step: scikit-learn's bound."""
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


def em(
    blocks: Blocks,
    model: Model,
    start: Mixture,
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    total_weight: float,
    bound: Bound = mean_log_lik,
    repair: Repair | None = None,
    accelerate: Accelerator | None = None,
    exact: bool = True,
    before: float = -np.inf,
    shown: Callable[[Mixture], Any] = lambda mixture: mixture.log_weights,
) -> EMRun:
    """Descend the free energy by turns: responsibilities given parameters, then the reverse.

    Dempster, Laird & Rubin (1977) as Neal & Hinton (1998) see it: F(q, theta) =
    E_q[-log p(x, z)] + E_q[log q]; neither half-step can raise it, and after the E-step it equals
    minus the log-likelihood. One iteration is one pass over the blocks.

    Parameters
    ----------
    start
        Where to begin; not modified.
    max_iter, tol
        Stop after `max_iter` iterations, or settle once the bound changes by less than `tol`.
    recorder
        Is told of every iteration and event, and may ask to stop.
    bound
        What `tol` is compared with.
    repair
        Looks at the mixture after each M-step.
    accelerate
        Proposes bolder steps; one that would raise F is taken back.
    exact
        Whether the M-step truly minimises F (added regularisation does not), to be verified under
        `set_options(check_invariants=True)`.
    before
        The bound of an earlier run that this one goes on with.
    shown
        What of the mixture the callback and ``keep="parameters"`` get.

    Returns
    -------
    EMRun
    """
    mixture, plain = start, start
    reached = np.inf  # the free energy that must not be exceeded again
    bounds: list[float] = []
    slack = 0.0  # what rounding may have added to it
    counts: Floats | float = 0.0  # mass of each component at the last E-step
    rounding = float(np.finfo(blocks.dtype).eps)
    settled = False
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        expected = model.expect(blocks, mixture)
        after_expect = -expected.log_lik - model.log_prior(mixture)
        if mixture is not plain and not after_expect <= reached:
            mixture = plain  # the bold step went too far
            expected = model.expect(blocks, mixture)
            after_expect = -expected.log_lik - model.log_prior(mixture)
        moved = model.maximise(expected, mixture)
        after_maximise = model.free_energy(moved, expected, mixture)
        if exact and get_options()["check_invariants"]:
            _check_expect(reached + slack, after_expect, n_iter, expected.counts - counts)
            counts = expected.counts
            slack = _slack(model, moved, mixture, expected, blocks.dtype)
            _check_maximise(model, moved, mixture, expected, after_expect + slack, n_iter)
        mended = repair(moved, expected, recorder, n_iter) if repair else None
        reached = after_maximise
        if mended is not None:
            moved, reached = mended, np.inf  # a fresh start as far as descent goes
        now = bound(after_expect, after_maximise, total_weight)
        if before - _ULPS * rounding * abs(before) <= now < before:
            now = before  # a fall that only rounding made
        bounds.append(now)
        stop = recorder.iteration(
            shown(moved),
            iteration=n_iter,
            objective_assign=after_expect,
            objective_update=after_maximise,
            energy=expected.energy,
            neg_entropy=expected.neg_entropy,
            log_likelihood=expected.log_lik,
        )
        settled = mended is None and abs(now - before) < tol
        before = now
        plain = moved
        bold = None
        if accelerate is not None and mended is None and not settled:
            bold = accelerate(mixture, moved)
        mixture = plain if bold is None else bold
        if settled or stop:
            break
    return EMRun(plain, n_iter, settled, before, bounds)


def _slack(
    model: Model, moved: Mixture, before: Mixture, expected: Expectation, dtype: np.dtype[Any]
) -> float:
    """What rounding may add to the free energy in one iteration."""
    terms = abs(expected.energy) + abs(expected.neg_entropy) + float(expected.counts.sum())
    counts = expected.counts[: model.family.n_components(moved.components)]
    rounding = model.family.rounding(moved.components, counts, before.components)
    return _SLACK[dtype.name] * terms + 256 * float(np.finfo(dtype).eps) * rounding


def _check_expect(limit: float, after: float, n_iter: int, moved: Floats) -> None:
    """Raise if the E-step raised the free energy beyond rounding."""
    if not after <= limit:
        raise InvariantError(
            f"EM: the E-step of iteration {n_iter} raised the free energy from {limit!r} to "
            f"{after!r}; component {int(np.argmax(np.abs(moved)))} changed its mass most."
        )


def _check_maximise(
    model: Model,
    moved: Mixture,
    mixture: Mixture,
    expected: Expectation,
    limit: float,
    n_iter: int,
) -> None:
    """Raise if the M-step raised the free energy beyond rounding."""
    after = model.free_energy(moved, expected, mixture)
    if not after <= limit and model.family.exact(moved.components):
        lost = model.gains(mixture, expected, mixture) - model.gains(moved, expected, mixture)
        raise InvariantError(
            f"EM: the M-step of iteration {n_iter} raised the free energy from {limit!r} to "
            f"{after!r}; component {int(np.argmax(lost))} lost most."
        )
