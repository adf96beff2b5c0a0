"""EM: the one loop that fits every mixture."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from coterie._config import get_options
from coterie._history import Recorder
from coterie.errors import InvariantError
from coterie.mixture._family import Expectation, Floats, Mixture
from coterie.mixture._task import EMRun, Model, Task

#: What rounding in the passes may add to F, relative to its terms, by the rows' type.
_SLACK = {"float64": 1e-8, "float32": 1e-5}

#: Relative to its size, in the rows' precision: a fall of the bound that only rounding makes.
_ULPS = 16


def em(task: Task, start: Mixture, recorder: Recorder, before: float = -np.inf) -> EMRun:
    """Descend the free energy by turns: responsibilities given parameters, then the reverse.

    Dempster, Laird & Rubin (1977) as Neal & Hinton (1998) see it: F(q, theta) =
    E_q[-log p(x, z)] + E_q[log q]; neither half-step can raise it, and after the E-step it equals
    minus the log-likelihood. One iteration is one pass over the blocks.

    Parameters
    ----------
    task
        What to fit, to which rows, and how.
    start
        Where to begin; not modified.
    recorder
        Is told of every iteration and event, and may ask to stop.
    before
        The bound of an earlier run that this one goes on with.

    Returns
    -------
    EMRun
    """
    blocks, model, family = task.blocks, task.model, task.model.family
    repair, accelerate = task.repair(), task.accelerate(task.coordinates(start))
    total_weight = task.total_weight
    mixture, plain = start, start
    reached = np.inf  # the free energy that must not be exceeded again
    bounds: list[float] = []
    slack = 0.0  # what rounding may have added to it
    counts: Floats | float = 0.0  # mass of each component at the last E-step
    rounding = float(np.finfo(blocks.dtype).eps)
    settled = False
    n_iter = 0
    for n_iter in range(1, task.max_iter + 1):
        expected = blocks.total(family.expect, mixture)
        after_expect = -expected.log_lik - model.log_prior(mixture)
        if mixture is not plain and not after_expect <= reached:
            mixture = plain  # the bold step went too far
            expected = blocks.total(family.expect, mixture)
            after_expect = -expected.log_lik - model.log_prior(mixture)
        moved = model.maximise(expected, mixture)
        after_maximise = model.free_energy(moved, expected, mixture)
        if after_maximise is None:
            after_maximise = after_expect  # all that is known is that it should be no more
        if family.descends and get_options()["check_invariants"]:
            _check_expect(reached + slack, after_expect, n_iter, expected.counts - counts)
            counts = expected.counts
            slack = _slack(model, moved, mixture, expected, blocks.dtype)
            limit = after_expect + slack
            _check_maximise(model, moved, mixture, expected, after_maximise, limit, n_iter)
        mended = repair(moved, expected, recorder, n_iter) if repair else None
        reached = after_maximise
        if mended is not None:
            moved, reached = mended, np.inf  # a fresh start as far as descent goes
        now = task.bound(after_expect, after_maximise, total_weight)
        if before - _ULPS * rounding * abs(before) <= now < before:
            now = before  # a fall that only rounding made
        bounds.append(now)
        stop = recorder.iteration(
            task.shown(moved),
            partial(task.kept, moved),
            iteration=n_iter,
            objective_assign=after_expect,
            objective_update=after_maximise,
            energy=expected.energy,
            neg_entropy=expected.neg_entropy,
            log_likelihood=expected.log_lik,
        )
        settled = mended is None and abs(now - before) < task.tol
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
    after: float,
    limit: float,
    n_iter: int,
) -> None:
    """Raise if the M-step raised the free energy beyond rounding."""
    if not after <= limit and model.family.exact(moved.components):
        lost = model.gains(mixture, expected, mixture) - model.gains(moved, expected, mixture)
        raise InvariantError(
            f"EM: the M-step of iteration {n_iter} raised the free energy from {limit!r} to "
            f"{after!r}; component {int(np.argmax(lost))} lost most."
        )
