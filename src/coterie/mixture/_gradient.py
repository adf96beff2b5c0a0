"""The gradient of a Gaussian mixture's log-likelihood, from one E-step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from coterie._history import Recorder
from coterie.data import Source
from coterie.mixture._coordinates import Coordinates
from coterie.mixture._family import Expectation, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._mixing import Shares
from coterie.mixture._task import EMRun, Model, Task


@dataclass(frozen=True)
class Slope:
    """A point of the search: its mixture, the E-step there, the objective and its gradient.

    The objective is minus the log-likelihood per row; with a prior, minus the log-posterior.
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


@dataclass(frozen=True)
class Objective:
    """What a search descends: minus the log-likelihood per row of mixtures written as vectors.

    `share` tells how much of all rows `blocks` are; `total_weight` is that of all.
    """

    blocks: Source
    model: Model
    coordinates: Coordinates
    total_weight: float
    share: float = 1.0

    @classmethod
    def begun(cls, task: Task, start: Mixture) -> Objective:
        """What a task descends from this start."""
        return cls(task.blocks, task.model, task.coordinates(start), task.total_weight)

    def at(self, vector: Floats) -> Slope:
        """Objective and gradient at a vector, by one pass over the rows.

        Fisher's identity: the gradient of the log-likelihood is the expected gradient of the
        complete one under the posterior of the components, so the statistics of the M-step are all
        it takes.
        """
        mixture = self.coordinates.unpack(vector)
        expected = self.blocks.total(self.model.family.expect, mixture)
        counts = expected.counts
        if isinstance(self.model.mixing, Shares):
            counts = counts + self.share * (self.model.mixing.concentration - 1)
        by_means, by_covariances = gaussian_score(self._family, mixture, expected, self.share)
        gradient = self.coordinates.slopes(vector, counts, by_means, by_covariances)
        gain = expected.log_lik + self.share * self.model.log_prior(mixture)
        weight = self.share * self.total_weight
        return Slope(vector, mixture, expected, -gain / weight, -gradient / weight)

    @property
    def _family(self) -> GaussianFamily:
        assert isinstance(self.model.family, GaussianFamily)
        return self.model.family

    def start(self) -> Slope:
        """Where the search begins."""
        coordinates = self.coordinates
        return self.at(coordinates.project(coordinates.pack(coordinates.like)))

    def gain_of_em(self, slope: Slope) -> float:
        """How much one step of EM from a point lowers the objective."""
        moved = self.model.maximise(slope.expected, slope.mixture)
        expected = self.blocks.total(self.model.family.expect, moved)
        gain = expected.log_lik + self.model.log_prior(moved)
        return slope.objective + gain / self.total_weight

    def of(self, batch: Source) -> Objective:
        """The same as far as a batch of the rows tells."""
        model = replace(self.model, family=replace(self._family, sampled=True))
        return replace(self, model=model, blocks=batch, share=batch.n_rows / self.blocks.n_rows)

    def record(self, recorder: Recorder, slope: Slope, n_iter: int, task: Task) -> bool:
        """Note an iteration as EM does, save that there are no half-steps; True to stop."""
        whole = slope.objective * self.total_weight
        return recorder.iteration(
            task.shown(slope.mixture),
            partial(task.kept, slope.mixture),
            iteration=n_iter,
            objective_assign=whole,
            objective_update=whole,
            energy=slope.expected.energy,
            neg_entropy=slope.expected.neg_entropy,
            log_likelihood=slope.expected.log_lik,
        )

    def end(self, recorder: Recorder, slope: Slope, bounds: list[float], *, settled: bool) -> EMRun:
        """The search as EM would report it; covariances at the floor are told of."""
        family, components = self._family, slope.mixture.components
        _, n_low = family.shape.clip(components.covariances, 2 * self.coordinates.floor)
        for j in np.flatnonzero(n_low).tolist():
            recorder.event(
                "floored",
                f"covariance {j} ended at the floor in {n_low[j]} of {family.n_cols} directions",
                where=j,
            )
        return EMRun(slope.mixture, len(bounds), settled, -slope.objective, bounds)


def gaussian_score(
    family: GaussianFamily, mixture: Mixture, expected: Expectation, share: float
) -> tuple[Floats, Floats]:
    """Gradient of the log-likelihood (or log-posterior) by the means and by the covariances.

    By mu: Sigma^-1 sum r (x - mu). By Sigma: Sigma^-1 (S - N Sigma) Sigma^-1 / 2, S being the
    scatter about mu; computed as U (U^T S U - N) U^T / 2 with U U^T = Sigma^-1. A `share` of the
    prior counts as rows seen beforehand.
    """
    components, summary = mixture.components, expected.summary
    k, d = components.means.shape
    counts, first = expected.counts[:k], summary.first
    scatter = family.scatter_about(components.means, counts, summary, components)
    if family.prior is not None:
        prior = family.prior
        counts = counts + share * prior.mass
        first = first + share * prior.mean_precision * (prior.mean - components.means)
        seen_before = share * prior.scatter(components.means)
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
