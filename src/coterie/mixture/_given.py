"""Starting values that the user gives: checked once, before a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from coterie.mixture._family import Floats, Mixture
from coterie.mixture._mixing import log_shares


def given_array(
    who: str,
    name: str,
    given: Any,
    shape: tuple[int, ...],
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> Floats:
    """A given start as float64, of the right shape and within range."""
    values = check_array(given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    if values.shape != shape:
        raise ValueError(
            f"{who}: The parameter '{name}' should have the shape of {shape}, but got "
            f"{values.shape}; give one entry a component."
        )
    if values.min() < at_least or values.max() > at_most:
        raise ValueError(
            f"{who}: {name} holds values from {values.min():g} to {values.max():g}; use values "
            f"from {at_least:g} to {at_most:g}."
        )
    return np.array(values)


def with_given_weights(who: str, start: Mixture, given: Any) -> Mixture:
    """The start with these weights, unless they are None."""
    if given is None:
        return start
    weights = given_array(who, "weights_init", given, start.log_weights.shape)
    if (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError(
            f"{who}: The parameter 'weights' should be normalized, but weights_init sums to "
            f"{weights.sum():.5f} and its least entry is {weights.min():.5f}; give non-negative "
            "weights that sum to one."
        )
    return replace(start, log_weights=log_shares(weights))
