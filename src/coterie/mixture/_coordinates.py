"""Mixtures of Gaussians as vectors: whatever the numbers, weights and covariances are valid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from coterie.mixture._charts import Chart, make_chart
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily, Gaussians
from coterie.mixture._overview import Overview

#: Under any `reg_covar` no covariance is narrower than this share of the rows' own.
_LEAST_SHARE = 1e-12
#: Logarithms of widths, in units of the rows' own, stay within this of zero.
_WIDEST = 30.0
#: The least weight before renormalising, as a plain number and as a logarithm.
_LEAST_WEIGHT = 1e-10
_LEAST_LOG_WEIGHT = -700.0


class WeightCoordinates(Protocol):
    """How weights are written as numbers."""

    least: float

    def pack(self, log_weights: Floats) -> Floats:
        """Numbers of these weights."""
        ...

    def unpack(self, numbers: Floats) -> Floats:
        """Log-weights of these numbers."""
        ...

    def slopes(self, numbers: Floats, counts: Floats) -> Floats:
        """Gradient of sum_j counts_j log w_j."""
        ...


class Softmax:
    """w_j = exp(a_j) / sum_l exp(a_l)."""

    least = -np.inf

    def pack(self, log_weights: Floats) -> Floats:
        return np.maximum(log_weights, _LEAST_LOG_WEIGHT)

    def unpack(self, numbers: Floats) -> Floats:
        return np.asarray(numbers - logsumexp(numbers))

    def slopes(self, numbers: Floats, counts: Floats) -> Floats:
        return np.asarray(counts - counts.sum() * np.exp(self.unpack(numbers)))


class Projected:
    """w_j = a_j / sum_l a_l, every a_j clipped to be positive."""

    least = _LEAST_WEIGHT

    def pack(self, log_weights: Floats) -> Floats:
        return np.maximum(np.exp(log_weights), self.least)

    def unpack(self, numbers: Floats) -> Floats:
        positive = np.maximum(numbers, self.least)
        return np.asarray(np.log(positive / positive.sum()))

    def slopes(self, numbers: Floats, counts: Floats) -> Floats:
        positive = np.maximum(numbers, self.least)
        return np.asarray(counts / positive - counts.sum() / positive.sum())


#: The ways to write weights by the names `weights=` takes.
WEIGHTS: dict[str, WeightCoordinates] = {"softmax": Softmax(), "projected": Projected()}


@dataclass(frozen=True)
class Coordinates:
    """Vectors of free numbers and the mixtures they stand for.

    Means and covariances are written as `Chart` has it, the floor being `reg_covar` in every
    direction, or the automatic one. `like` is a mixture of the same size, from which comes what is
    not free.
    """

    family: GaussianFamily
    like: Mixture
    weights: WeightCoordinates
    fixed: frozenset[str] = frozenset()

    @cached_property
    def floor(self) -> Floats:
        """The least covariance, (d, d), or its diagonal where that is all that matters."""
        if self.family.reg_covar is None:
            return self._rows.floor
        spread = self._rows.spread
        unit = np.ones_like(spread) if spread.ndim == 1 else np.eye(self.family.n_cols)
        return self.family.reg_covar * unit + _LEAST_SHARE * spread

    @property
    def _rows(self) -> Overview:
        assert self.family.overview is not None, "rows give origin and unit"
        return self.family.overview

    @cached_property
    def _chart(self) -> Chart:
        n_components = self.family.n_components(self.like.components)
        # Where the floor is wider than the rows, it sets the unit.
        unit = self._rows.spread + self.floor
        return make_chart(self.family.shape, unit, self.floor, n_components)

    def pack(self, mixture: Mixture) -> Floats:
        """The vector of a mixture."""
        components: Gaussians = mixture.components
        return self._join(
            {
                "weights": self.weights.pack(mixture.log_weights),
                "means": self._chart.pack_deviations(components.means - self._rows.mean),
                "covariances": self._chart.pack_covariances(components.covariances),
            }
        )

    def unpack(self, vector: Floats) -> Mixture:
        """The mixture of a vector."""
        parts = self._split(vector)
        mixture, components = self.like, self.like.components
        if "weights" in parts:
            mixture = replace(mixture, log_weights=self.weights.unpack(parts["weights"]))
        if "means" in parts:
            means = self._rows.mean + self._chart.deviations(parts["means"])
            components = replace(components, means=np.ascontiguousarray(means))
        if "covariances" in parts:
            covariances, factors = self._chart.covariances(parts["covariances"])
            components = replace(components, covariances=covariances, factors=factors)
        return replace(mixture, components=components)

    def slopes(
        self, vector: Floats, counts: Floats, by_means: Floats, by_covariances: Floats
    ) -> Floats:
        """Gradient by the vector of what has these by means and covariances.

        As for the weights, it is sum_j counts_j log w_j.
        """
        parts = self._split(vector)
        slopes = {"means": self._chart.deviation_slopes(by_means)}
        if "weights" in parts:
            slopes["weights"] = self.weights.slopes(parts["weights"], counts)
        if "covariances" in parts:
            numbers = parts["covariances"]
            slopes["covariances"] = self._chart.covariance_slopes(numbers, by_covariances)
        return self._join(slopes)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each number: they keep a search from overflowing."""
        n_covariances = self._chart.dims[0] if len(self._chart.dims) > 1 else 1
        widest = np.where(self._chart.log_widths, _WIDEST, np.inf)
        widest = np.tile(widest, (n_covariances, 1))
        free = np.full(self.like.components.means.shape, np.inf)
        light = np.full(self.like.log_weights.shape, self.weights.least)
        heavy = np.full(light.shape, np.inf)
        return (
            self._join({"weights": light, "means": -free, "covariances": -widest}),
            self._join({"weights": heavy, "means": free, "covariances": widest}),
        )

    def project(self, vector: Floats) -> Floats:
        """The vector within the bounds, and its weights written so that they sum to one."""
        parts = self._split(np.clip(vector, *self.bounds))
        if "weights" in parts:
            parts["weights"] = self.weights.pack(self.weights.unpack(parts["weights"]))
        return self._join(parts)

    @cached_property
    def _dims(self) -> dict[str, tuple[int, ...]]:
        """Shape of each free part of a vector, in order."""
        dims = {
            "weights": self.like.log_weights.shape,
            "means": self.like.components.means.shape,
            "covariances": self._chart.dims,
        }
        return {name: shape for name, shape in dims.items() if name not in self.fixed}

    def _join(self, parts: dict[str, Floats]) -> Floats:
        return np.concatenate([np.zeros(0), *(parts[name].ravel() for name in self._dims)])

    def _split(self, vector: Floats) -> dict[str, Floats]:
        parts, start = {}, 0
        for name, shape in self._dims.items():
            stop = start + int(np.prod(shape))
            parts[name] = vector[start:stop].reshape(shape)
            start = stop
        return parts
