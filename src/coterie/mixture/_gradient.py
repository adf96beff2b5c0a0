"""The gradient of a Gaussian mixture's log-likelihood, from one E-step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._history import Recorder
from coterie.data import Blocks
from coterie.mixture._coordinates import Coordinates
from coterie.mixture._em import Model
from coterie.mixture._family import Expectation, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._mixing import Shares


@dataclass(frozen=True)
class Slope:
    """A point of the search: its mixture, the E-step there, the objective and its gradient.

    The objective is minus the log-likelihood a row; with a prior, minus the log-posterior.
    """

    vector: Floats
    mixture: Mixture
    expected: Expectation
    objective: float
    gradient: Floats

    @property
    def steepest(self) -> float:
        """The gradient's largest entry."""
        return float(np.abs(self.gradient).max(initial=0.0))


def slope_at(
    vector: Floats, coordinates: Coordinates, model: Model, blocks: Blocks, total_weight: float
) -> Slope:
    """Objective and gradient at a vector, by one pass over the rows.

    Fisher's identity: the gradient of the log-likelihood is the expected gradient of the complete
    one under the posterior of the components, so the statistics of the M-step are all it takes.
    """
    mixture = coordinates.unpack(vector)
    expected = model.expect(blocks, mixture)
    by_means, by_covariances = gaussian_score(coordinates.family, mixture, expected)
    counts = expected.counts
    if isinstance(model.mixing, Shares):
        counts = counts + (model.mixing.concentration - 1)
    gradient = coordinates.slopes(vector, counts, by_means, by_covariances)
    objective = -(expected.log_lik + model.log_prior(mixture))
    return Slope(vector, mixture, expected, objective / total_weight, -gradient / total_weight)


def gaussian_score(
    family: GaussianFamily, mixture: Mixture, expected: Expectation
) -> tuple[Floats, Floats]:
    """Gradient of the log-likelihood (or log-posterior) by the means and by the covariances.

    By mu: Sigma^-1 sum r (x - mu). By Sigma: Sigma^-1 (S - N Sigma) Sigma^-1 / 2, S being the
    scatter about mu; computed as U (U^T S U - N) U^T / 2 with U U^T = Sigma^-1. A prior counts as
    rows seen beforehand.
    """
    components, summary = mixture.components, expected.summary
    k, d = components.means.shape
    counts, first = expected.counts[:k], summary.first
    scatter = family.scatter_about(components.means, counts, summary, components)
    if family.prior is not None:
        prior = family.prior
        counts = counts + prior.mass
        first = first + prior.mean_precision * (prior.mean - components.means)
        seen_before = prior.scatter(components.means)
        scatter = scatter + (seen_before.sum(axis=0) if len(scatter) < k else seen_before)
    factors = family.shape.kernel_factors(components.factors, k, d)
    if family.shape.diagonal:
        precisions = np.square(factors)
        by_variances = precisions * (scatter * precisions - counts[:, np.newaxis]) / 2
        spherical = family.shape.name == "spherical"
        return precisions * first, by_variances.sum(axis=1) if spherical else by_variances
    if family.shape.name == "tied":
        scatter, counts = scatter.sum(axis=0, keepdims=True), counts.sum(keepdims=True)
    across = factors.transpose(0, 2, 1)
    white = across @ scatter @ factors - counts[:, np.newaxis, np.newaxis] * np.eye(d)
    by_means = (factors @ (across @ first[:, :, np.newaxis]))[:, :, 0]
    return by_means, (factors @ white @ across / 2).reshape(components.covariances.shape)


def record(
    recorder: Recorder,
    slope: Slope,
    n_iter: int,
    total_weight: float,
    shown: Callable[[Mixture], Any],
) -> bool:
    """Note an iteration as EM does, save that there are no half-steps; True to stop."""
    whole = slope.objective * total_weight
    return recorder.iteration(
        shown(slope.mixture),
        iteration=n_iter,
        objective_assign=whole,
        objective_update=whole,
        energy=slope.expected.energy,
        neg_entropy=slope.expected.neg_entropy,
        log_likelihood=slope.expected.log_lik,
    )


def note_floored(recorder: Recorder, mixture: Mixture, coordinates: Coordinates) -> None:
    """Tell which covariances ended at the floor."""
    family = coordinates.family
    _, n_raised = family.shape.clip(mixture.components.covariances, 2 * coordinates.floor)
    for j in np.flatnonzero(n_raised).tolist():
        recorder.event(
            "floored",
            f"covariance {j} ended at the floor in {n_raised[j]} of {family.n_cols} directions",
            where=j,
        )
