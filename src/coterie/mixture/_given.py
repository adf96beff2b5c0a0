"""Starting values that the user gives: checked once, before a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from coterie.mixture._arrays import given_array
from coterie.mixture._family import Floats, Mixture
from coterie.mixture._mixing import log_shares


def given_within(
    who: str, name: str, given: Any, shape: tuple[int, ...], low: float, high: float = np.inf
) -> Floats:
    """A given start, a row a component, whose values lie in a range."""
    values = given_array(who, name, given, shape, "component")
    if values.min() < low or values.max() > high:
        raise ValueError(
            f"{who}: {name} holds values from {values.min():g} to {values.max():g}; use values "
            f"from {low:g} to {high:g}."
        )
    return values


def with_given_weights(who: str, start: Mixture, given: Any, n_components: int) -> Mixture:
    """The start with these weights, unless they are None."""
    if given is None:
        return start
    weights = given_array(who, "weights_init", given, (n_components,), "component")
    if (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError(
            f"{who}: The parameter 'weights' should be normalized, but weights_init sums to "
            f"{weights.sum():.5f} and its least entry is {weights.min():.5f}; give non-negative "
            "weights that sum to one."
        )
    return replace(start, log_weights=log_shares(weights))
