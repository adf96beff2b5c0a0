"""The choice of a method and of the number of clusters, with everything it was chosen from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
from coterie.select._contest import score
from coterie.select._judging import Judge, Parts, agreements
from coterie.select.best_method import BestMethod, best_method
from coterie.select.choose_k import choose_k
from coterie.select.k_choice import KChoice
from coterie.select.mixture import MixtureChoice, select_mixture

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Rows that criteria along the number of clusters are measured on: less in many places.
_CRITERIA_NUMBERS, _FEWEST_ROWS, _MOST_ROWS = 20_000, 500, 2000
#: Criteria of k-means along k, and those of a mixture.
_BY_CENTRES, _BY_LIKELIHOOD = ("silhouette", "gap", "prediction_strength"), ("bic", "icl")
#: Where a pick is within this of the largest number tried, more are tried.
_EDGE, _MORE = 1, 25
#: Clusters are apart where no more than this share of the rows next to one is in another.
_THIN = 0.1
#: Rows that a cluster must have for its borders to be seen.
_SEEN = 30
#: What criteria are called, and which end of them is better.
CRITERIA = {
    "silhouette": ("mean silhouette", "high"), "gap": ("gap statistic", "high"),
    "prediction_strength": ("prediction strength", "high"), "bic": ("BIC", "low"),
    "icl": ("ICL", "low"), "border": ("border between clusters", "low"),
}  # fmt: skip
#: Candidates that are shown.
_SHOWN = 8


@dataclass(frozen=True)
class Candidate:
    """A partition that was compared: a recipe, its labels, its parts and its score.

    `agreement` is the adjusted Rand index with the best.
    """

    recipe: Recipe
    labels: Labels
    parts: dict[str, float]
    score: float
    agreement: float = 1.0


@dataclass(frozen=True)
class Chosen:
    """What was chosen: `candidates`, the best first, all of `n_clusters`.

    `are_apart` tells that hardly any row lies next to one of another cluster; `votes` are the
    numbers of clusters that each criterion picked, `by_centres` and `by_cells` the curves,
    `mixtures` the Gaussian mixtures that BIC compared.
    """

    n_clusters: int
    candidates: list[Candidate]
    are_apart: bool
    votes: dict[str, int]
    by_centres: KChoice
    by_cells: KChoice | None
    mixtures: MixtureChoice | None
    borders: dict[int, float]
    why: str

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def n_agreeing(self) -> int:
        """How many criteria pick the number that was chosen."""
        return sum(pick == self.n_clusters for pick in self.votes.values())

    @property
    def is_sure(self) -> bool:
        """Whether the number is more than a guess: clusters are apart, or most criteria agree."""
        return self.are_apart or 2 * self.n_agreeing > len(self.votes)

    @property
    def runner_up(self) -> Candidate | None:
        """The best candidate of another family of methods."""
        own = self.best.recipe.family
        return next((one for one in self.candidates[1:] if one.recipe.family != own), None)


def choose(ready: Prepared, rows: Floats, cells: RawTable, plan: Plan, seed: int) -> Chosen:
    """Choose how many clusters there are, then the method that follows the rows best.

    Where clusters are apart, there are as many as `best_method` finds. Elsewhere, and where columns
    have levels, any two of which are apart, criteria vote: silhouette, gap and prediction strength
    of k-means, BIC of Gaussian mixtures (of a mixed mixture where columns have levels). Most votes
    win, of equals the one nearest to the median vote, then the larger. So they do where their
    clusters would be too small for the nearest rows that `best_method` looks at, and where three
    criteria or more, which know clusters by their centres, agree on a number that such a method
    does not have.
    """
    found = best_method(rows, random_state=seed)
    n_some = max(_FEWEST_ROWS, min(_MOST_ROWS, _CRITERIA_NUMBERS // rows.shape[1]))
    some = np.sort(np.random.RandomState(seed).permutation(len(rows))[:n_some])
    by_centres = _along_k(rows[some], plan, found.n_clusters, seed)
    by_cells, mixtures = None, None
    if ready.is_discrete:
        by_cells = _mixed_along_k(ready, cells.take(some), plan, seed)
    else:
        mixtures = _mixtures(rows[some], plan, seed)
    are_apart = _is_apart(found) and not ready.is_discrete
    votes = _votes(found, by_centres, by_cells, mixtures, are_apart=are_apart)
    k, why = _most(votes)
    too_small = k > found.n_clusters and len(rows) < k * _SEEN
    outvoted = _is_outvoted(Recipe(found.name, found.model), votes)
    are_apart = are_apart and not too_small and not outvoted
    if are_apart:
        k = found.n_clusters
        why = f"{k} clusters are apart: hardly a row lies next to one of another cluster"
    borders = _borders(found)
    if k != found.n_clusters:
        found = _again(rows, k, found, seed)
    candidates = _ranked(ready, rows, cells, found, seed)
    return Chosen(
        found.n_clusters, candidates, are_apart, votes, by_centres, by_cells, mixtures, borders, why
    )


def _along_k(rows: Floats, plan: Plan, expected: int, seed: int) -> KChoice:
    """Criteria of k-means along k; further where picks are at the end."""

    def along(most: int) -> KChoice:
        return choose_k(
            rows, KMeans(n_init=3), range(1, most + 1), criterion=_BY_CENTRES,
            n_references=plan.n_references, n_resamples=plan.n_references, random_state=seed,
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
    """Gaussian mixtures by BIC; in many places those with few numbers per component."""
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
    border counts where clusters are apart, or no two of the others agree.
    """
    votes: dict[str, int] = {}
    for choice in (by_centres, by_cells):
        if choice is not None:
            votes |= {name: pick for name, pick in choice.picks.items()
                      if pick is not None and pick < choice.ks[-1] and name != "icl"}  # fmt: skip
    if mixtures is not None and mixtures.k < max(one.k for one in mixtures.candidates):
        votes["bic"] = mixtures.k
    votes = {name: pick for name, pick in votes.items() if pick > 1}
    no_two = len(set(votes.values())) == len(votes) and by_cells is None
    return {**votes, "border": found.n_clusters} if are_apart or no_two or not votes else votes


def _most(votes: dict[str, int]) -> tuple[int, str]:
    counts, middle = Counter(votes.values()), float(np.median(list(votes.values())))
    k = max(counts, key=lambda number: (counts[number], -abs(number - middle), number))
    agree = [CRITERIA[name][0] for name, pick in votes.items() if pick == k]
    if 2 * len(agree) <= len(votes):
        picks = ", ".join(f"{CRITERIA[name][0]} {pick}" for name, pick in votes.items())
        return k, f"how many is unsure, since criteria pick different numbers: {picks}"
    if len(votes) == 1:
        return k, f"the only criterion with a pick, {agree[0]}, picks {k} clusters"
    who = f"{len(agree)} of {len(votes)} criteria" if len(agree) < len(votes) else "all criteria"
    return k, f"{who} pick {k} clusters ({', '.join(agree)})"


def _is_outvoted(own: Recipe, votes: dict[str, int]) -> bool:
    """Whether three criteria or more, all but the border, agree against a method of centres."""
    others = [pick for name, pick in votes.items() if name != "border"]
    agree = len(others) >= 3 and len(set(others)) == 1
    return own.is_centred and agree and others[0] != votes.get("border")


def _is_apart(found: BestMethod) -> bool:
    own = [one.border for one in found.candidates if one.n_clusters == found.n_clusters]
    return own[0] <= _THIN


def _again(rows: Floats, k: int, found: BestMethod, seed: int) -> BestMethod:
    """The contest with k clusters; the one before where no method has so many."""
    try:
        return best_method(rows, n_clusters=k, random_state=seed)
    except (ValueError, IndexError):
        return found


def _borders(found: BestMethod) -> dict[int, float]:
    """The border of the best candidate of each number of clusters."""
    best: dict[int, float] = {}
    for one in found.candidates:
        best.setdefault(one.n_clusters, one.border)
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
    if ready.is_discrete:  # where rows are copies or levels apart, and neighbours tell little
        recipes = [one for one in recipes if one.is_centred or one.name == "Ward"]
    table: list[tuple[Recipe, Labels, Parts]] = []
    for recipe in [*recipes, *more_recipes(ready, rows, k, seed)]:
        own = recipe.name == found.name
        labels = number_by_first(found.labels) if own else recipe.labels(rows, cells)
        if labels is not None and int(labels.max()) == k - 1:
            table.append((recipe, labels, judge.judge(labels, k)))
    agreed = agreements([labels for _, labels, _ in table])
    scores = [score(parts, float(one)) for (_, _, parts), one in zip(table, agreed, strict=True)]
    order = np.argsort(-np.round(scores, 9), kind="stable")
    first = table[order[0]][1]
    return [
        Candidate(
            recipe, labels, {**vars(parts), "agreement": float(agreed[at])}, scores[at],
            float(adjusted_rand_score(first, labels)),
        )
        for at in order[:_SHOWN]
        for recipe, labels, parts in [table[at]]
    ]  # fmt: skip
