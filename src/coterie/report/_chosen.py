"""The choice of a method and of the number of clusters, with everything it was chosen from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from coterie import KMeans, MixedMixture
from coterie._config import resolve_n_threads
from coterie._labels import number_by_first
from coterie.data.raw_table import RawTable
from coterie.evaluate import adjusted_rand_score
from coterie.report._plan import Plan
from coterie.report._prepared import Prepared
from coterie.report._shortlist import (
    MOST_FULL,
    Recipe,
    mixture_kinds,
    more_recipes,
    recipe_of,
)
from coterie.select._judging import Judge
from coterie.select.best_method import BestMethod, best_method
from coterie.select.choose_k import choose_k
from coterie.select.k_choice import KChoice
from coterie.select.mixture import MixtureChoice, select_mixture

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Rows that criteria along the number of clusters are measured on.
_CRITERIA_ROWS = 2000
#: Criteria of k-means along k, and those of a mixture.
_BY_CENTRES, _BY_LIKELIHOOD = ("silhouette", "gap", "prediction_strength"), ("bic", "icl")
#: Where a pick is within this of the largest number tried, more are tried.
_EDGE, _MORE = 1, 25
#: As `best_method` has it: clusters are apart where borders are thin and valleys deep.
_THIN, _DEEP = 0.03, 0.6
#: Rows that a cluster must have for its borders to be seen.
_SEEN = 30
#: What criteria are called, and which end of them is better.
CRITERIA = {
    "silhouette": ("mean silhouette", "high"), "gap": ("gap statistic", "high"),
    "prediction_strength": ("prediction strength", "high"), "bic": ("BIC", "low"),
    "icl": ("ICL", "low"), "valley": ("depth of the valley between clusters", "high"),
}  # fmt: skip
#: Candidates that are shown.
_SHOWN = 8


@dataclass(frozen=True)
class Candidate:
    """A partition that was compared: a recipe, its labels, its parts and its mean rank."""

    recipe: Recipe
    labels: Labels
    parts: dict[str, float]
    score: float
    agreement: float = 1.0


@dataclass(frozen=True)
class Chosen:
    """What was chosen: `candidates`, the best first, all of `n_clusters`.

    `are_apart` tells that every cluster is dense within and sparse around; `votes` are the numbers
    of clusters that each criterion picked, `by_centres` and `by_cells` the curves, `mixtures` the
    Gaussian mixtures that BIC compared.
    """

    n_clusters: int
    candidates: list[Candidate]
    are_apart: bool
    votes: dict[str, int]
    by_centres: KChoice
    by_cells: KChoice | None
    mixtures: MixtureChoice | None
    valleys: dict[int, float]
    why: str

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def runner_up(self) -> Candidate | None:
        """The best candidate of another family of methods."""
        own = self.best.recipe.family
        return next((one for one in self.candidates[1:] if one.recipe.family != own), None)


def choose(ready: Prepared, rows: Floats, cells: RawTable, plan: Plan, seed: int) -> Chosen:
    """Choose how many clusters there are, then the method that follows the rows best.

    Where some number of clusters leaves all of them apart, `best_method` names it. Elsewhere, and
    where columns have levels, any two of which are apart, criteria vote: silhouette, gap and
    prediction strength of k-means, BIC of Gaussian mixtures (of a mixed mixture where columns have
    levels). Most votes win, of equals the one nearest to the median vote. So they do where their
    clusters would be too small for the nearest rows that `best_method` looks at.
    """
    found = best_method(rows, random_state=seed)
    some = np.sort(np.random.RandomState(seed).permutation(len(rows))[:_CRITERIA_ROWS])
    by_centres = _along_k(rows[some], plan, found.n_clusters, seed)
    by_cells, mixtures = None, None
    if ready.is_discrete:
        by_cells = _mixed_along_k(ready, cells.take(some), plan, seed)
    else:
        mixtures = _mixtures(rows[some], plan, seed)
    are_apart = _is_apart(found)
    votes = _votes(found, by_centres, by_cells, mixtures, are_apart=are_apart)
    k, why = _most(votes)
    too_small = k > found.n_clusters and len(rows) < k * _SEEN
    if are_apart and not ready.is_discrete and not too_small:
        k, why = found.n_clusters, "all of them are apart"
    if k != found.n_clusters:
        found = _again(rows, k, found, seed)
    candidates = _ranked(ready, rows, cells, found, seed)
    are_apart = are_apart and not ready.is_discrete
    return Chosen(
        found.n_clusters, candidates, are_apart, votes, by_centres, by_cells, mixtures,
        _valleys(found), why,
    )  # fmt: skip


def _along_k(rows: Floats, plan: Plan, expected: int, seed: int) -> KChoice:
    """Criteria of k-means along k; further where picks are at the end."""

    def along(most: int) -> KChoice:
        return choose_k(
            rows, KMeans(n_init=3), range(1, most + 1), criterion=_BY_CENTRES,
            n_references=10, n_resamples=10, random_state=seed,
        )  # fmt: skip

    most = min(plan.most_clusters, len(np.unique(rows, axis=0)))
    found = along(most)
    top = max([expected, *(pick for pick in found.picks.values() if pick is not None)])
    more = min(_MORE, len(rows) // 5)
    return along(more) if top > most - _EDGE and more > most else found


def _mixed_along_k(ready: Prepared, cells: RawTable, plan: Plan, seed: int) -> KChoice | None:
    model = MixedMixture(kinds=mixture_kinds(ready), n_init=2, random_state=seed)
    try:
        return choose_k(
            cells, model, range(1, plan.most_clusters + 1), criterion=_BY_LIKELIHOOD,
            random_state=seed,
        )  # fmt: skip
    except ValueError:  # a table that no mixture takes
        return None


def _mixtures(rows: Floats, plan: Plan, seed: int) -> MixtureChoice | None:
    """Gaussian mixtures by BIC; in many places those with few numbers a component."""
    kinds = ("full", "tied", "diag", "spherical")
    try:
        return select_mixture(
            rows, range(1, plan.most_clusters + 1), random_state=seed, tol=1e-3, max_iter=200,
            covariance_types=kinds if rows.shape[1] <= MOST_FULL else kinds[2:],
        )  # fmt: skip
    except ValueError:  # every one collapsed
        return None


def _votes(
    found: BestMethod,
    by_centres: KChoice,
    by_cells: KChoice | None,
    mixtures: MixtureChoice | None,
    *,
    are_apart: bool,
) -> dict[str, int]:
    """The number of clusters that each criterion picks.

    One cluster is no vote for a number, nor is the largest one tried: the best may lie beyond. The
    deepest valley counts where clusters are apart, or nothing else does.
    """
    votes: dict[str, int] = {}
    for choice in (by_centres, by_cells):
        if choice is not None:
            votes |= {name: pick for name, pick in choice.picks.items()
                      if pick is not None and pick < choice.ks[-1] and name != "icl"}  # fmt: skip
    if mixtures is not None and mixtures.k < max(one.k for one in mixtures.candidates):
        votes["bic"] = mixtures.k
    votes = {name: pick for name, pick in votes.items() if pick > 1}
    return {**votes, "valley": found.n_clusters} if are_apart or not votes else votes


def _most(votes: dict[str, int]) -> tuple[int, str]:
    counts, middle = Counter(votes.values()), float(np.median(list(votes.values())))
    k = max(counts, key=lambda number: (counts[number], -abs(number - middle), -number))
    agree = [CRITERIA[name][0] for name, pick in votes.items() if pick == k]
    if len(agree) == len(votes):
        return k, f"all criteria pick it ({', '.join(agree)})"
    return k, f"{len(agree)} of {len(votes)} criteria pick it ({', '.join(agree)})"


def _is_apart(found: BestMethod) -> bool:
    own = next(
        (one for one in found.candidates if (one.n_clusters, one.name)
         == (found.n_clusters, found.name)), None,
    )  # fmt: skip
    return own is not None and own.border <= _THIN and own.valley >= _DEEP


def _again(rows: Floats, k: int, found: BestMethod, seed: int) -> BestMethod:
    """The contest with k clusters; the one before where no method has so many."""
    try:
        return best_method(rows, n_clusters=k, random_state=seed)
    except (ValueError, IndexError):
        return found


def _valleys(found: BestMethod) -> dict[int, float]:
    """The valley of the best candidate of each number of clusters."""
    best: dict[int, float] = {}
    for one in found.candidates:
        if one.n_clusters not in best and np.isfinite(one.valley):
            best[one.n_clusters] = one.valley
    return best


def _ranked(
    ready: Prepared, rows: Floats, cells: RawTable, found: BestMethod, seed: int
) -> list[Candidate]:
    """The candidates of the chosen number, and what else fits the table, ranked together."""
    k = found.n_clusters
    judge = Judge(rows, resolve_n_threads(None, "study"))
    recipes = [
        recipe_of(one.name, one.parameters) for one in found.candidates if one.n_clusters == k
    ]
    table: list[tuple[Recipe, Labels, dict[str, float]]] = []
    for recipe in [*recipes, *more_recipes(ready, rows, k, seed)]:
        own = recipe.name == found.name
        labels = number_by_first(found.labels) if own else recipe.labels(rows, cells)
        if labels is not None and int(labels.max()) == k - 1:
            table.append((recipe, labels, dict(vars(judge.judge(labels, k)))))
    scores = mean_ranks([parts for _, _, parts in table])
    order = np.argsort(-scores, kind="stable")
    first = table[order[0]][1]
    return [
        Candidate(
            recipe, labels, parts, float(scores[at]), float(adjusted_rand_score(first, labels))
        )
        for at in order[:_SHOWN]
        for recipe, labels, parts in [table[at]]
    ]


def mean_ranks(parts: Sequence[dict[str, Any]]) -> Floats:
    """The mean over border, valley and shape of each candidate's rank, from 0 to 1."""
    table = np.array([[-one["border"], one["valley"], one["shape"]] for one in parts])
    ranks = rankdata(np.round(np.nan_to_num(table, neginf=-1e6), 9), axis=0)
    return np.asarray(ranks.mean(axis=1) / len(parts))
