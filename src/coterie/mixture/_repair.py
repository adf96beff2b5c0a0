"""Mending Gaussians that degenerate: dead or collapsed, they begin anew at another row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.data import Block, Source
from coterie.mixture._family import Expectation, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily, Gaussians
from coterie.mixture._mixing import Fixed, log_shares
from coterie.mixture._task import Model

#: A component with no more than this share of all mass is dead.
_DEAD_SHARE = 1e-12
#: How often a component may begin anew.
_N_TRIES = 3
#: Rows compared with a point at a time.
_TILE_ROWS = 1 << 14


@dataclass
class Reseeding:
    """Looks after each M-step for components that are dead, or collapsed onto one point.

    Collapsed means held at the floor in every direction; with a number for `reg_covar` that is
    only looked for where there is no Cholesky factor. Such a component begins anew at a random
    row, with the rows' covariance over k^(2/d); after some tries it is left as it is. Everything
    is noted.
    """

    blocks: Source
    model: Model
    make_rng: Callable[[], np.random.RandomState]
    tries: Counter[int] = field(default_factory=Counter)
    noted: set[tuple[str, int]] = field(default_factory=set)

    @cached_property
    def rng(self) -> np.random.RandomState:
        """Random numbers, made when the first are needed."""
        return self.make_rng()

    def __call__(
        self, mixture: Mixture, expected: Expectation, recorder: Recorder, n_iter: int
    ) -> Mixture | None:
        family = self.model.family
        assert isinstance(family, GaussianFamily)
        components: Gaussians = mixture.components
        k, d = components.means.shape
        dead = expected.counts[:k] <= _DEAD_SHARE * expected.counts.sum()
        if not (dead.any() or components.floored.any()):
            return None
        collapsed = (components.floored == d) & ~dead
        self._note_floored(components, dead | collapsed, recorder, n_iter)
        again = []
        for j in np.flatnonzero(dead | collapsed).tolist():
            what = "dead" if dead[j] else "collapsed"
            able = dead[j] or family.shape.name != "tied"  # a shared covariance stays shared
            able = able and not family.fixed and n_iter < recorder.max_iter
            if able and self.tries[j] < _N_TRIES:
                self.tries[j] += 1
                again.append(j)
                ending = "re-seeded"
            elif (what, j) in self.noted:
                continue
            else:
                self.noted.add((what, j))
                ending = "left without weight" if dead[j] else "kept at the floor"
            story = "lost all rows" if dead[j] else self._onto(components.means[j])
            recorder.event(
                what,
                f"component {j} {story} at iteration {n_iter}: {ending}",
                where=j,
                iteration=n_iter,
            )
        return self._begin_anew(mixture, family, again) if again else None

    def _note_floored(
        self, components: Gaussians, worse: npt.NDArray[np.bool_], recorder: Recorder, n_iter: int
    ) -> None:
        """Once a component: its covariance had to be widened in some direction."""
        for j in np.flatnonzero((components.floored > 0) & ~worse).tolist():
            if ("floored", j) not in self.noted:
                self.noted.add(("floored", j))
                recorder.event(
                    "floored",
                    f"the covariance of component {j} was widened to the floor in "
                    f"{components.floored[j]} of {components.means.shape[1]} directions "
                    f"at iteration {n_iter}",
                    where=j,
                    iteration=n_iter,
                )

    def _onto(self, mean: Floats) -> str:
        return f"collapsed onto row {nearest_row(self.blocks, mean)}"

    def _begin_anew(self, mixture: Mixture, family: GaussianFamily, which: list[int]) -> Mixture:
        components: Gaussians = mixture.components
        k, d = components.means.shape
        overview = family.overview
        assert overview is not None
        means, covariances = components.means.copy(), components.covariances.copy()
        wide = family.shape.repeat(overview.covariance / k ** (2 / d), k)
        weights = mixture.weights
        for j in which:
            row = self.blocks.sample(1, 1, self.rng).take([0])[0]
            means[j] = np.where(np.isnan(row), overview.mean, row)
            if family.shape.name != "tied":
                covariances[j] = wide[j]
            weights[j] = 1 / weights.size
        if not isinstance(self.model.mixing, Fixed):
            mixture = replace(mixture, log_weights=log_shares(weights))
        return replace(mixture, components=family.with_covariances(means, covariances))


@dataclass(frozen=True)
class Nearest:
    """A row near a point, and how far off it is; `+` is the nearer, ties to the lower row."""

    row: int
    away: float

    def __add__(self, other: Nearest) -> Nearest:
        return min(self, other, key=lambda own: (own.away, own.row))


def nearest_row(blocks: Source, point: Floats) -> int:
    """The row with weight nearest to a point, as far as it was observed; ties to the lower."""
    return blocks.total(nearest_of, point).row


def nearest_of(block: Block, point: Floats) -> Nearest:
    """The nearest row of a block."""
    return reduce(add, (_nearest_of_tile(tile, point) for tile in block.parts(_TILE_ROWS)))


def _nearest_of_tile(tile: Block, point: Floats) -> Nearest:
    rows = np.asarray(tile.rows, dtype=np.float64)
    away = np.abs(rows - point).max(axis=1, initial=0.0, where=~np.isnan(rows))
    if tile.weights is not None:
        away[tile.weights == 0] = np.inf
    here = int(np.argmin(away))
    return Nearest(tile.start + here, float(away[here]))
