"""Choosing a method: which of the fitted candidates follows the rows best, without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import NONE, check_enough_rows, check_params, whole
from coterie._config import resolve_n_threads
from coterie._doors import FLOATS, checked, refuse_lazy
from coterie._in_memory import held
from coterie._random import check_random_state
from coterie.select._candidates import FromMeans, Merged, Method, fits_for, spanning_for, ward_for
from coterie.select._contest import Contest, MethodCandidate, Round, draw
from coterie.select._walk import largest_leap, walk

__all__ = ["BestMethod", "MethodCandidate", "best_method"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BestMethod:
    """The method that was chosen; `best_method` makes one.

    Attributes
    ----------
    labels : int64 array of shape (n_rows,)
        Numbered by the first row of each cluster; no row is noise.
    name : str
    model : estimator
        Fitted to X again, after the choice was made on rows with one common unit. HDBSCAN's own
        labels have noise; here those rows are with the nearest others.
    n_clusters : int
        k, the number of clusters.
    candidates : list of MethodCandidate
        By number of clusters, best first.
    summary : str
        What was chosen and why, in a sentence.
    n_judged : int
        Rows that partitions were judged on.
    """

    labels: Labels
    name: str
    model: Any
    n_clusters: int
    candidates: list[MethodCandidate]
    summary: str
    n_judged: int

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for every candidate, to look at or to make a data frame of."""
        return [dict(vars(candidate)) for candidate in self.candidates]


def best_method(X: Any, n_clusters: int | None = None, random_state: Any = None) -> BestMethod:
    """Cluster rows by several methods and choose the partition that follows the rows best.

    k-means, Gaussian mixtures (four kinds of covariances), Ward, single linkage, Genie (four
    thresholds) and the leaves of HDBSCAN (three `min_samples`) are compared by four parts that see
    no labels: the largest conductance of a cluster in the graph of the 20 nearest rows (`border`),
    how much longer the edges of the mutual reachability tree between clusters are than those within
    (`valley`), the BIC of a Gaussian per cluster (`shape`), and the adjusted Rand index with the
    other candidates (`agreement`). The largest -log(border + 0.001) + valley / 2 + shape / 4 +
    agreement wins.

    Without `n_clusters`, trees and k-means from Ward's clusters are compared for 2, 3, ... clusters
    (at most 150, and 10 rows each), and that number is taken from which the winner's border leaps
    farthest to the next; all methods are compared for it.

    Time: trees are built once, close to O(n log n) in few columns and at most O(n^2 d), Ward's from
    2000 micro-clusters above 20000 rows; 10 starts of k-means and 3 of each mixture (one above
    50000 rows) for one number of clusters. Partitions are judged, and the number of clusters is
    chosen, on at most 20000 rows, drawn with `random_state`. Memory O(n d).

    It finds best what is apart among near rows, of any shape. Classes of measured tables that
    overlap are found better by mixtures; see the page on `best_method`.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features), or what says where rows are
        Columns count as they are scaled.
    n_clusters : int or None, default=None
        None: chosen, too; at least 2.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    """
    who = "best_method"
    check_params(who, {"n_clusters": n_clusters}, {"n_clusters": NONE | whole(1)})
    refuse_lazy(who, X)
    X = held(who, X, "a tree of all rows")
    given = checked(who, X, dtype=FLOATS, ensure_min_samples=2)
    rows = _scaled(np.asarray(given, dtype=np.float64))
    _check_distinct(who, rows, n_clusters)
    rng = check_random_state(random_state)
    seed, n_threads = int(rng.randint(2**31)), resolve_n_threads(None, who)
    drawn = draw(len(rows), rng)
    contest = Contest(rows, drawn, n_threads)
    ward, others = ward_for(rows, seed, n_threads), spanning_for(rows, n_threads)
    rounds: dict[int, Round] = {}
    if n_clusters is not None:
        k = int(n_clusters)
    elif len(drawn) == len(rows):
        rounds = _walked(rows, ward, others, contest)
        k = largest_leap(rounds)
    else:
        few = np.ascontiguousarray(rows[drawn])
        rounds = _walked(
            few, ward_for(few, seed, n_threads), spanning_for(few, n_threads),
            Contest(few, np.arange(len(few)), n_threads),
        )  # fmt: skip
        k = largest_leap(rounds)
    rounds[k] = contest.play([*fits_for(rows, seed), ward, *others], k)
    best = rounds[k]
    return BestMethod(
        best.labels, best.winner.name, best.method.fitted(k, X), k,
        [one for number in sorted(rounds) for one in rounds[number].candidates],
        _summary(best, rounds), len(drawn),
    )  # fmt: skip


def _scaled(rows: Floats) -> Floats:
    """Rows about their mean, with one unit for all columns: no square overflows or vanishes."""
    unit = float(np.abs(rows).max())
    rows = rows / unit if unit > 0 else rows
    rows = rows - rows.mean(axis=0)
    unit = float(rows.std())
    return np.ascontiguousarray(rows / unit if unit > 0 else rows)


def _check_distinct(who: str, rows: Floats, n_clusters: int | None) -> None:
    """Refuse fewer distinct rows than clusters."""
    if n_clusters is not None:
        check_enough_rows(who, n_clusters, len(rows))
    n_distinct = len(np.unique(rows, axis=0))
    if (n_clusters or 2) > n_distinct:
        asked = "2 clusters or more" if n_clusters is None else f"n_clusters={n_clusters}"
        there = f"{n_distinct} distinct row{'s' * (n_distinct != 1)}"
        raise ValueError(
            f"{who}: {asked} asked for and X has {there}; lower n_clusters or pass more rows."
        )


def _walked(rows: Floats, ward: Merged, others: list[Method], contest: Contest) -> dict[int, Round]:
    """Rounds along the number of clusters, of the methods that are cheap."""
    methods = [FromMeans(ward, rows), ward, *others]
    return walk(lambda k: contest.play(methods, k), len(rows), len(np.unique(rows, axis=0)))


def _summary(best: Round, rounds: dict[int, Round]) -> str:
    """What was chosen and why."""
    one = best.winner
    why = f"{len(best.candidates)} partitions into {one.n_clusters} clusters"
    if len(rounds) > 1:
        why += f" (of 2 to {max(rounds)}, the border leaps farthest from {one.n_clusters})"
    return (
        f"{one.name} has the largest score of {why}: at most {one.border:.1%} of a cluster's "
        f"neighbours are in others, and edges between clusters are {np.exp(one.valley):.2g} times "
        "as long as within."
    )
