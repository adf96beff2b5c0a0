"""Where EM begins: first guesses of who is responsible for which row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._kmeans import kmeans
from coterie.centroid._passes import choose_space, labels_of
from coterie.centroid._seeding import SEEDINGS, Seeds
from coterie.centroid._space import NotFiniteError, Space
from coterie.data import ArraySource, Block, Source
from coterie.data.chance import Chance
from coterie.mixture._family import Expectation, Family, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._mixing import Fixed
from coterie.mixture._noise import with_background
from coterie.mixture._task import Model

#: Share of the rows' covariance that components begin with at random rows.
_START_SHARE = 0.1

#: Up to so many rows, a permutation of all of them is affordable anywhere.
_FEW_ROWS = 1 << 22

#: Responsibilities of the rows of a tile, shape (n_rows, n_components). Pickles.
Responsible = Callable[[Block], Floats]


@dataclass(frozen=True)
class Rows:
    """Rows to start from, and coordinates, so many of them, where distances tell who is near.

    None are the rows' own.
    """

    blocks: Source
    coordinates: Callable[[Any], Any] | None = None
    n_coordinates: int | None = None

    @cached_property
    def near(self) -> Source:
        """The rows in these coordinates."""
        if self.coordinates is None:
            return self.blocks
        return self.blocks.through(self.coordinates, n_cols=self.n_coordinates)


#: A first guess: from rows, how many components, and random numbers.
Guess = Callable[[Rows, int, np.random.RandomState], Responsible]
#: A start: from rows, a model, a mixture that says nothing yet, and random numbers.
Start = Callable[[Rows, Model, Mixture, np.random.RandomState], Mixture]


@dataclass(frozen=True)
class Beginning:
    """Begins runs: `start` draws a mixture, `given` puts in its place what the user gave, `note`
    tells of what is odd. `rows` are made when they are first needed.
    """

    who: str
    model: Model
    blank: Mixture
    start: Start
    rows: Callable[[], Rows]
    given: Callable[[Mixture], Mixture] = lambda drawn: drawn
    note: Callable[[Mixture, Recorder], None] = lambda start, recorder: None

    @cached_property
    def _rows(self) -> Rows:
        return self.rows()

    def __call__(self, rng: np.random.RandomState, recorder: Recorder) -> Mixture:
        try:
            start = self.given(self.start(self._rows, self.model, self.blank, rng))
        except NotFiniteError:
            raise ValueError(
                f"{self.who}: X has values so large that squared distances overflow float64; "
                "leave such rows out (even those of weight zero), or divide X by a constant."
            ) from None
        self.note(start, recorder)
        return start


def begin(blocks: Source, model: Model, blank: Mixture, responsible: Responsible) -> Mixture:
    """The M-step from first responsibilities; `blank` says what else the mixture has."""
    n_components = model.family.n_components(blank.components)
    start = model.maximise(blocks.total(expect_first, model.family, blank, responsible), blank)
    if blank.background is None or isinstance(model.mixing, Fixed):
        return start
    # No row was given to the background, which begins with its share all the same.
    start = replace(start, log_weights=start.log_weights[:n_components])
    return with_background(start, blank.background)


def expect_first(
    block: Block, family: Family, blank: Mixture, responsible: Responsible
) -> Expectation:
    """What an E-step with these responsibilities would find in a block."""
    n_components = family.n_components(blank.components)
    parts = []
    for tile in family.tiles(block, blank):
        mass = responsible(tile)
        if tile.weights is not None:
            mass = mass * tile.weights[:, np.newaxis]
        summary = family.summarise(blank.components, tile.rows, mass)
        counts = np.zeros(len(blank.log_weights))
        counts[:n_components] = mass.sum(axis=0)
        parts.append(Expectation(0.0, 0.0, counts, summary))
    return reduce(add, parts)


def by_guess(
    guess: Guess, rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState
) -> Mixture:
    """A start from first guesses of who is responsible."""
    n_components = model.family.n_components(blank.components)
    return begin(rows.blocks, model, blank, guess(rows, n_components, rng))


def as_given(rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState) -> Mixture:
    """Nothing is drawn where the user gave the whole start."""
    return blank


@dataclass(frozen=True)
class ByLabel:
    """Every row wholly to the component of its label; none where that is -1.

    For rows in memory: a label each is kept.
    """

    labels: npt.NDArray[np.int32]
    n_components: int

    def __call__(self, tile: Block) -> Floats:
        return _one_hot(self.labels[tile.span], self.n_components)


@dataclass(frozen=True)
class ByNearest:
    """Every row wholly to the component whose centre is nearest, in these coordinates."""

    centers: Floats
    space: Space
    coordinates: Callable[[Any], Any] | None = None

    def __call__(self, tile: Block) -> Floats:
        if self.coordinates is not None:
            tile = replace(tile, rows=self.coordinates(tile.rows))
        return _one_hot(labels_of(tile, self.centers, self.space), len(self.centers))


@dataclass(frozen=True)
class OneRowEach:
    """One row to every component, by number; the others to none."""

    row_ids: npt.NDArray[np.int64]

    def __call__(self, tile: Block) -> Floats:
        resp = np.zeros((tile.n_rows, self.row_ids.size))
        places = self.row_ids - tile.start
        here = np.flatnonzero((places >= 0) & (places < tile.n_rows))
        resp[places[here], here] = 1.0
        return resp


@dataclass(frozen=True)
class AtRandom:
    """Random responsibilities by row."""

    chance: Chance
    n_components: int

    def __call__(self, tile: Block) -> Floats:
        k = self.n_components
        resp = self.chance.draw(tile.start * k, tile.n_rows * k).reshape(-1, k)
        return np.asarray(resp / resp.sum(axis=1)[:, np.newaxis])


def _one_hot(labels: npt.NDArray[np.int32], n_components: int) -> Floats:
    return np.asarray(labels[:, np.newaxis] == np.arange(n_components), dtype=np.float64)


def by_kmeans(rows: Rows, n_components: int, rng: np.random.RandomState) -> Responsible:
    """Clusters of k-means, seeded by k-means++."""
    columns, space = choose_space(rows.near)
    tol = 1e-4 * float(columns.variance.mean())
    run = kmeans(rows.near, space, n_components, rng, tol=tol)
    if isinstance(rows.near, ArraySource):
        return ByLabel(run.relabel(run.centers)[0], n_components)
    return ByNearest(run.centers, space, rows.coordinates)


def by_plusplus(rows: Rows, n_components: int, rng: np.random.RandomState) -> Responsible:
    """One row each, chosen by k-means++."""
    _, space = choose_space(rows.near)
    return _one_row_each(SEEDINGS["k-means++"](rows.near, space, n_components, rng))


def by_rows(rows: Rows, n_components: int, rng: np.random.RandomState) -> Responsible:
    """One random row each: without weights scikit-learn's, which are a permutation's first.

    Of too many rows to permute where they are not in memory, as many are drawn.
    """
    blocks = rows.blocks
    if blocks.weights is None and (blocks.in_memory or blocks.n_rows <= _FEW_ROWS):
        return OneRowEach(rng.choice(blocks.n_rows, size=n_components, replace=False))
    return _one_row_each(SEEDINGS["random"](blocks, None, n_components, rng))


def _one_row_each(seeds: Seeds) -> OneRowEach:
    assert seeds.indices is not None, "these seeds are rows"
    return OneRowEach(seeds.indices)


def at_random(rows: Rows, n_components: int, rng: np.random.RandomState) -> Responsible:
    """Random responsibilities, by row: however rows are cut, they are the same."""
    return AtRandom(Chance.of(rng), n_components)


def at_rows(rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState) -> Mixture:
    """Random rows as means and a tenth of the rows' covariance for each: the textbooks' start."""
    family = model.family
    assert isinstance(family, GaussianFamily)
    overview = family.overview
    assert overview is not None
    k = family.n_components(blank.components)
    means = SEEDINGS["random"](rows.blocks, None, k, rng).centers
    covariances = family.shape.repeat(_START_SHARE * overview.covariance, k)
    return replace(blank, components=family.with_covariances(means, covariances))


def note_alike(start: Mixture, recorder: Recorder) -> None:
    """Tell of Gaussians that begin at the same point."""
    means = start.components.means
    n_distinct = len({tuple(mean) for mean in means.tolist()})
    if n_distinct < len(means):
        recorder.event(
            "start",
            f"only {n_distinct} of {len(means)} components begin at different points: there "
            "may be fewer distinct rows than components",
        )


#: First guesses by the names `init_params=` takes.
GUESSES: dict[str, Guess] = {
    "kmeans": by_kmeans,
    "k-means++": by_plusplus,
    "random": at_random,
    "random_from_data": by_rows,
}
#: The starts of any mixture, and those of Gaussians.
STARTS: dict[str, Start] = {name: partial(by_guess, guess) for name, guess in GUESSES.items()}
GAUSSIAN_STARTS: dict[str, Start] = {**STARTS, "rows": at_rows}
