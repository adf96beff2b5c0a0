"""Where EM begins: first guesses of who is responsible for which row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._kmeans import kmeans
from coterie.centroid._passes import choose_space
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._space import NotFiniteError
from coterie.data import Block, Source
from coterie.mixture._family import Expectation, Floats, Mixture
from coterie.mixture._gaussian import GaussianFamily
from coterie.mixture._mixing import Fixed
from coterie.mixture._noise import with_background
from coterie.mixture._task import Model

#: Share of the rows' covariance that components begin with at random rows.
_START_SHARE = 0.1

#: Responsibilities of the rows of a tile, shape (n_rows, n_components).
Responsible = Callable[[Block], Floats]
#: A first guess: from rows, how many components, and random numbers.
Guess = Callable[[Source, int, np.random.RandomState], Responsible]


@dataclass(frozen=True)
class Rows:
    """Rows to start from, and the same in coordinates where distances tell who is `near`."""

    blocks: Source
    near: Source


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
    family = model.family
    n_components = family.n_components(blank.components)

    def summarise(block: Block) -> Expectation:
        parts = []
        for tile in family.tiles(block, blank):
            mass = responsible(tile)
            if tile.weights is not None:
                mass = mass * tile.weights[:, np.newaxis]
            summary = family.summarise(blank.components, tile.rows, mass)
            counts = np.zeros(len(blank.log_weights))
            counts[:n_components] = mass.sum(axis=0)
            parts.append(Expectation(0.0, 0.0, counts, summary))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    start = model.maximise(blocks.total(summarise), blank)
    if blank.background is None or isinstance(model.mixing, Fixed):
        return start
    # No row was given to the background, which begins with its share all the same.
    start = replace(start, log_weights=start.log_weights[:n_components])
    return with_background(start, blank.background)


def by_guess(
    guess: Guess, rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState
) -> Mixture:
    """A start from first guesses of who is responsible."""
    n_components = model.family.n_components(blank.components)
    return begin(rows.blocks, model, blank, guess(rows.near, n_components, rng))


def as_given(rows: Rows, model: Model, blank: Mixture, rng: np.random.RandomState) -> Mixture:
    """Nothing is drawn where the user gave the whole start."""
    return blank


def one_hot(labels: npt.NDArray[np.int32], n_components: int) -> Responsible:
    """Every row wholly to the component of its label; none where that is -1."""

    def responsible(tile: Block) -> Floats:
        here = labels[tile.span]
        return np.asarray(here[:, np.newaxis] == np.arange(n_components), dtype=np.float64)

    return responsible


def by_kmeans(blocks: Source, n_components: int, rng: np.random.RandomState) -> Responsible:
    """Clusters of k-means, seeded by k-means++."""
    columns, space = choose_space(blocks)
    tol = 1e-4 * float(columns.variance.mean())
    run = kmeans(blocks, space, n_components, rng, tol=tol)
    return one_hot(run.relabel(run.centers)[0], n_components)


def by_plusplus(blocks: Source, n_components: int, rng: np.random.RandomState) -> Responsible:
    """One row each, chosen by k-means++."""
    seeds = SEEDINGS["k-means++"](blocks, choose_space(blocks)[1], n_components, rng)
    return _one_row_each(blocks, seeds.indices)


def by_rows(blocks: Source, n_components: int, rng: np.random.RandomState) -> Responsible:
    """One random row each: without weights scikit-learn's, which are a permutation's first."""
    if blocks.weights is None:
        return _one_row_each(blocks, rng.choice(blocks.n_rows, size=n_components, replace=False))
    return _one_row_each(blocks, SEEDINGS["random"](blocks, None, n_components, rng).indices)


def _one_row_each(blocks: Source, row_ids: Any) -> Responsible:
    labels = np.full(blocks.n_rows, -1, dtype=np.int32)
    labels[row_ids] = np.arange(len(row_ids))
    return one_hot(labels, len(row_ids))


def at_random(blocks: Source, n_components: int, rng: np.random.RandomState) -> Responsible:
    """Random responsibilities, drawn in the order of the rows."""

    def responsible(tile: Block) -> Floats:
        resp = rng.uniform(size=(tile.n_rows, n_components))
        return np.asarray(resp / resp.sum(axis=1)[:, np.newaxis])

    return responsible


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
    n_distinct = len(np.unique(means, axis=0))
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
