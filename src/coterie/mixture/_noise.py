"""The uniform background: a box around all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block, Source
from coterie.mixture._family import Mixture
from coterie.mixture._mixing import log_shares

Floats = npt.NDArray[np.float64]

#: Share of the rows the background begins with.
_START_SHARE = 0.1


@dataclass(frozen=True)
class Box:
    """A box by its lowest corner and its widths, (d,) each."""

    lower: Floats
    widths: Floats

    def log_density(self, columns: Any = slice(None)) -> float:
        """Log-density of the uniform distribution over (some columns of) the box.

        It is taken as that everywhere: rows beyond the box are no likelier to be a component's.
        """
        return -float(np.log(self.widths[columns]).sum())

    def draw(self, size: int, rng: np.random.RandomState) -> Floats:
        """Random rows in the box."""
        return np.asarray(self.lower + rng.uniform(size=(size, self.lower.size)) * self.widths)


def with_background(mixture: Mixture, log_density: float) -> Mixture:
    """The mixture with a background, which takes its first share from every component."""
    weights = np.append((1 - _START_SHARE) * mixture.weights, _START_SHARE)
    return replace(mixture, log_weights=log_shares(weights), background=log_density)


def bounding_box(blocks: Source, least_variance: Floats) -> Box:
    """The smallest box that holds all rows with weight; NaN is left out.

    A column without width gets one that makes the background as likely there as a component of
    the least variance, so that such a column does not matter.
    """
    found = blocks.total(extent_of)
    lower, widths = found.lower, found.upper - found.lower
    return Box(lower, np.where(widths > 0, widths, np.sqrt(2 * np.pi * least_variance)))


@dataclass(frozen=True)
class Extent:
    """The least and the greatest value of every column, (d,) each; `+` is that of both."""

    lower: Floats
    upper: Floats

    def __add__(self, other: Extent) -> Extent:
        return Extent(np.fmin(self.lower, other.lower), np.fmax(self.upper, other.upper))


def extent_of(block: Block) -> Extent:
    """How far the rows of a block with weight reach; NaN is left out."""
    seen = True if block.weights is None else (block.weights > 0)[:, np.newaxis]
    lower = np.fmin.reduce(block.rows, initial=np.inf, where=seen)
    upper = np.fmax.reduce(block.rows, initial=-np.inf, where=seen)
    return Extent(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))
