"""Starting values that the user gives: checked once, before a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from coterie.mixture._arrays import given_array
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily, Gaussians
from coterie.mixture._mixing import log_shares
from coterie.mixture._noise import with_background

#: What given weights may sum to beside one: as much as NumPy calls close.
_NEAR_ONE = 1.001e-5


def given_within(
    who: str, name: str, given: Any, shape: tuple[int, ...], low: float, high: float = np.inf
) -> Floats:
    """A given start, a row per component, whose values lie in a range."""
    values = given_array(who, name, given, shape, "component")
    if values.min() < low or values.max() > high:
        raise ValueError(
            f"{who}: {name} holds values from {values.min():g} to {values.max():g}; use values "
            f"from {low:g} to {high:g}."
        )
    return values


def given_weights(who: str, given: Any, n_components: int) -> Floats | None:
    """Given weights, or None."""
    if given is None:
        return None
    weights = given_array(who, "weights_init", given, (n_components,), "component")
    if (weights < 0).any() or not abs(weights.sum() - 1) <= _NEAR_ONE:
        raise ValueError(
            f"{who}: The parameter 'weights' should be normalized, but weights_init sums to "
            f"{weights.sum():.5f} and its least entry is {weights.min():.5f}; give non-negative "
            "weights that sum to one."
        )
    return weights


@dataclass(frozen=True)
class Given:
    """What the user gave of a start: weights, components, or None of them."""

    weights: Floats | None = None
    components: Any = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to draw."""
        return self.weights is not None and self.components is not None

    def __call__(self, drawn: Mixture) -> Mixture:
        if self.weights is not None:
            drawn = replace(drawn, log_weights=log_shares(self.weights))
        return drawn if self.components is None else replace(drawn, components=self.components)


@dataclass(frozen=True)
class GivenGaussians:
    """The same where means and covariances may be given apart."""

    family: GaussianFamily
    weights: Floats | None
    means: Floats | None
    covariances: Floats | None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to draw."""
        return all(own is not None for own in (self.weights, self.means, self.covariances))

    @cached_property
    def components(self) -> Gaussians:
        """The components of what is given whole."""
        assert self.means is not None
        assert self.covariances is not None
        return self.family.with_covariances(self.means, self.covariances)

    def __call__(self, drawn: Mixture) -> Mixture:
        components: Gaussians = drawn.components
        if self.weights is not None:
            drawn = replace(drawn, log_weights=log_shares(self.weights))
            if drawn.background is not None:
                drawn = with_background(drawn, drawn.background)
        if self.whole:
            return replace(drawn, components=self.components)
        if self.means is not None:
            components = replace(components, means=self.means)
        if self.covariances is not None:
            components = self.family.with_covariances(components.means, self.covariances)
        return replace(drawn, components=components)


def given_means(who: str, given: Any, shape: tuple[int, ...]) -> Floats | None:
    """Given means, or None."""
    return None if given is None else given_array(who, "means_init", given, shape, "component")


def given_covariances(who: str, family: GaussianFamily, given: Any, k: int) -> Floats | None:
    """Covariances of given precisions, or None."""
    if given is None:
        return None
    shape = family.shape.dims(k, family.n_cols)
    entry = "pair of columns" if family.shape.name == "tied" else "component"
    covariances = family.shape.inverted(given_array(who, "precisions_init", given, shape, entry))
    if covariances is None:
        raise ValueError(
            f"{who}: precisions_init must hold symmetric positive definite matrices "
            "(diag, spherical: positive numbers); check its values."
        )
    return covariances
