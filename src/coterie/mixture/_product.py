"""The product of families: groups of columns that are independent given the component."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.mixture._family import Floats
from coterie.mixture._linear import LinearFamily, Sums


@dataclass(frozen=True)
class ProductFamily(LinearFamily):
    """log p_j(x) = sum over the groups of the log-density of the group's columns.

    Components are a tuple of those of the `parts`, whose columns stand side by side.
    """

    parts: tuple[LinearFamily, ...] = ()

    def n_components(self, components: tuple[Any, ...]) -> int:
        return self.parts[0].n_components(components[0])

    def blank(self, n_components: int) -> tuple[Any, ...]:
        return tuple(part.blank(n_components) for part in self.parts)

    def linear_form(self, components: tuple[Any, ...]) -> tuple[Floats, Floats]:
        forms = [part.linear_form(own) for part, own in zip(self.parts, components, strict=True)]
        offsets = np.sum([offset for offset, _ in forms], axis=0)
        return offsets, np.hstack([slopes for _, slopes in forms])

    def maximise(self, counts: Floats, summary: Sums, before: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            part.maximise(counts, Sums(own), old)
            for part, own, old in zip(self.parts, self._split(summary.first), before, strict=True)
        )

    def _split(self, first: Floats) -> Iterator[Floats]:
        stops = np.cumsum([part.n_cols for part in self.parts])[:-1]
        return iter(np.split(first, stops, axis=1))

    def log_prior(self, components: tuple[Any, ...]) -> float:
        return sum(part.log_prior(own) for part, own in zip(self.parts, components, strict=True))

    def rounding(
        self, components: tuple[Any, ...], counts: Floats, before: tuple[Any, ...]
    ) -> float:
        return sum(
            part.rounding(own, counts, old)
            for part, own, old in zip(self.parts, components, before, strict=True)
        )

    def n_parameters(self, n_components: int) -> int:
        return sum(part.n_parameters(n_components) for part in self.parts)

    def draw(
        self, components: tuple[Any, ...], component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        """What the parts draw, side by side."""
        drawn = [
            part.draw(own, component, size, rng)
            for part, own in zip(self.parts, components, strict=True)
        ]
        return np.hstack(drawn)
