"""Whether to trust the clusters: do they come back, and would rows without structure show them?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie import KMeans
from coterie._config import resolve_n_threads
from coterie._distinct import distinct
from coterie.data.encoding import encode
from coterie.data.raw_table import RawTable
from coterie.evaluate import silhouette_score
from coterie.report._prepared import Prepared
from coterie.report._shortlist import Recipe
from coterie.report._space import Space
from coterie.select._judging import Judge
from coterie.select._replay import NULLS
from coterie.select.stability import best_jaccard

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: The share of the rows that a resample has.
_SHARE = 0.67
#: From the best to the least: a mean Jaccard index, and what is said of such a cluster.
VERDICTS = ((0.85, "stable"), (0.75, "likely"), (0.6, "doubtful"), (0.0, "not to be trusted"))


@dataclass(frozen=True)
class Comeback:
    """How well each cluster comes back from resamples: mean Jaccard index, and where 95% lie."""

    jaccard: Floats
    low: Floats
    high: Floats
    n_resamples: int

    def verdict(self, cluster: int) -> str:
        """A word on a cluster."""
        return next(word for least, word in VERDICTS if self.jaccard[cluster] >= least)


@dataclass(frozen=True)
class NullReplay:
    """A score of the clusters, and the scores of the same method on rows without structure.

    Of several nulls the one that comes nearest counts: `null` has its scores, but for those
    `n_without` of its tables in which the method found no clusters.
    """

    score: str
    observed: float
    null: list[float]
    p_value: float
    what: str
    n_without: int = 0

    @property
    def sentence(self) -> str:
        """What it says, in words."""
        as_good = sum(value >= self.observed for value in self.null)
        reached = {0: "never reached", 1: "reached once"}.get(as_good, f"reached {as_good} times")
        without = f"; in {self.n_without} of them it found no clusters" if self.n_without else ""
        return (
            f"The same method on {len(self.null) + self.n_without} tables without structure "
            f"({self.what}) {reached} a {self.score} of {self.observed:.3g} or more, "
            f"p = {self.p_value:.2g}{without}."
        )


def comeback(
    recipe: Recipe,
    rows: Floats,
    cells: RawTable,
    labels: Labels,
    n_resamples: int,
    seed: int,
    has_time: Callable[[], bool] = lambda: True,
) -> Comeback | None:
    """Cluster two thirds of the rows again and again (Hennig 2007); None without two resamples.

    Of each cluster the Jaccard index with the most alike one of the resample, among its rows; 0 in
    one where the method finds no clusters at all. Rows are drawn without repetition: copies would
    be clusters of their own to trees and densities.
    """  # fmt: skip
    rng = np.random.RandomState(seed)
    clusters = np.arange(int(labels.max()) + 1)
    again = recipe.for_share(_SHARE)
    samples: list[Floats] = []
    size = max(2, round(_SHARE * len(rows)))
    for done in range(n_resamples):
        if done > 1 and not has_time():
            break
        drawn = np.sort(rng.permutation(len(rows))[:size])
        found = again.labels(np.ascontiguousarray(rows[drawn]), cells.take(drawn))
        samples.append(
            np.zeros(clusters.size) if found is None
            else best_jaccard(labels[drawn], found, clusters)
        )  # fmt: skip
    if len(samples) < 2:
        return None
    table = np.array(samples)
    known = ~np.isnan(table)
    means = np.where(known, table, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    columns = [np.append(column[here], [] if here.any() else [0.0])
               for column, here in zip(table.T, known.T, strict=True)]  # fmt: skip
    low, high = np.array([np.quantile(column, [0.025, 0.975]) for column in columns]).T
    return Comeback(means, low, high, len(samples))


def replay_clusters(
    recipe: Recipe,
    ready: Prepared,
    cells: RawTable,
    space: Space,
    labels: Labels,
    n_replays: int,
    seed: int,
) -> NullReplay:
    """Score the clusters, and what the same method makes of rows without structure.

    Numbers become uniform in the box of their principal components, or Gaussian or uniform in an
    ellipsoid with the same covariance, and are missing where they were; columns of levels are
    shuffled, each by itself. The score is the mean silhouette, of methods that follow neighbours
    the depth of the valley between clusters. A method of whole columns (a mixed mixture, Gower's
    medoids) is stood in for by k-means.
    """  # fmt: skip
    rng = np.random.RandomState(seed)
    points = encode(cells.cells, ready.codes)
    k = int(labels.max()) + 1
    if recipe.on_cells:
        recipe = Recipe("k-means", KMeans(k, n_init=3, random_state=seed))
        stood_in = recipe.labels(space.rows(points), RawTable((), ()))
        labels = labels if stood_in is None else stood_in
    name, score = _SCORES[recipe.is_centred]
    observed = score(space.rows(points), labels)
    structureless = _Structureless(points, ready.holes(cells), ready)
    found: dict[str, list[float]] = {}
    for null in _nulls(ready):
        values = []
        for _ in range(n_replays):
            rows = space.rows(structureless.draw(null, rng))
            again = recipe.labels(np.ascontiguousarray(rows), RawTable((), ()))
            values.append(-np.inf if again is None else score(rows, again))
        found[null] = values
    chances = {null: (1 + sum(v >= observed for v in values)) / (1 + len(values))
               for null, values in found.items()}  # fmt: skip
    worst = max(chances, key=lambda null: (chances[null], np.mean(np.array(found[null]) > -np.inf)))
    finite = [float(value) for value in found[worst] if np.isfinite(value)]
    n_without = len(found[worst]) - len(finite)
    return NullReplay(name, float(observed), finite, chances[worst], _WORDS[worst], n_without)


_WORDS = {
    "uniform": "uniform rows in the same box", "gaussian": "Gaussian rows with the same covariance",
    "ball": "uniform rows in an ellipsoid with the same covariance",
    "shuffled": "every column shuffled",
}  # fmt: skip


def _nulls(ready: Prepared) -> list[str]:
    measured = any(not kind.levels for kind in ready.used)
    return list(NULLS) if measured else ["shuffled"]


class _Structureless:
    """Points like some, but for their structure; what the nulls need is found once."""

    def __init__(self, points: Floats, holes: npt.NDArray[np.bool_], ready: Prepared) -> None:
        self._points, self._holes = points, holes
        places = list(zip(ready.used, ready.spans, strict=True))
        self._levels = [span for kind, span in places if kind.levels]
        self._numbers = [span.start for kind, span in places if not kind.levels]
        own = points[:, self._numbers]
        self._center = own.mean(axis=0)
        if self._numbers:
            _, _, self._axes = np.linalg.svd(own - self._center, full_matrices=False)
            self._components = (own - self._center) @ self._axes.T

    def draw(self, null: str, rng: np.random.RandomState) -> Floats:
        """Numbers anew, missing where they were, and every column of levels shuffled by itself."""
        found = np.empty_like(self._points)
        for places in self._levels:
            found[:, places] = self._points[rng.permutation(len(found)), places]
        if self._numbers:
            drawn = NULLS[null](self._components, rng)
            here = drawn @ self._axes + self._center
            found[:, self._numbers] = np.where(self._holes[:, self._numbers], 0.0, here)
        return found


def _silhouette(rows: Floats, labels: Labels) -> float:
    if len(distinct(labels)) < 2:
        return -1.0
    return float(silhouette_score(rows, labels))


def _valley(rows: Floats, labels: Labels) -> float:
    k = int(labels.max()) + 1
    judge = Judge(np.ascontiguousarray(rows), resolve_n_threads(None, "study"))
    return float(judge.judge(labels, k).valley)


_SCORES: dict[bool, tuple[str, Callable[[Floats, Labels], float]]] = {
    True: ("mean silhouette", _silhouette), False: ("depth of the valley", _valley),
}  # fmt: skip
