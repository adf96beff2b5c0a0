"""Choosing the number of clusters by several criteria at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie._checks import CALLABLE, NONE, check_params, whole
from coterie._progress import says_stop
from coterie._random import check_random_state
from coterie.centroid import KMeans
from coterie.select._by_likelihood import bic_weights
from coterie.select._criteria import CRITERIA, chosen_criteria
from coterie.select._fits import Fits, OneByOne, check_estimator, count_of, fits_along, seeded
from coterie.select._grow import table_of
from coterie.select._numbers import numbers_of_clusters
from coterie.select._problem import Problem, Settings, in_memory, is_remote
from coterie.select.k_choice import Curve, KChoice, SelectionProgress, recommend

#: Numbers of clusters that are compared where none are given, rows permitting.
_UP_TO = 10

_RULES = {
    "n_references": whole(1),
    "n_resamples": whole(2),
    "n_folds": whole(2),
    "sample_size": NONE | whole(2),
    "callback": NONE | CALLABLE,
}


def choose_k(
    X: Any,
    estimator: Any = None,
    k: Any = None,
    *,
    criterion: Any = None,
    n_references: int = 20,
    n_resamples: int = 20,
    n_folds: int = 5,
    sample_size: int | None = None,
    random_state: Any = None,
    callback: Callable[[SelectionProgress], Any] | None = None,
) -> KChoice:
    """Compare numbers of clusters by several criteria, and recommend one.

    The fits along k are shared by all criteria: k-means and Gaussian mixtures try to go on from the
    fit with fewer clusters and keep the better of that and a fresh start, so errors never rise
    along k; agglomerative clustering builds one tree and cuts it.

    Time: a fit per k, and as many more for each reference (``"gap"``), resample
    (``"prediction_strength"``; ``"stability"`` twice) or fold (``"held_out"``);
    ``"silhouette"`` adds O(n^2 d) per k. Memory: a label per row and k; ``"held_out"`` 8 bytes
    more.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features), or whatever the estimator takes
        Rows that are not in memory can be judged by criteria that neither refit nor resample.
    estimator : estimator or None, default=None
        Anything with `n_clusters` or `n_components`; None: `KMeans`.
    k : iterable of int, int or None, default=None
        What to compare; a number m stands for 1, ..., m, None for 1, ..., 10.
    criterion : str, iterable of str or None, default=None
        None: what suits the estimator. For mixtures ``"bic"`` (Schwarz 1978), ``"icl"``
        (Biernacki, Celeux & Govaert 2000), ``"aic"`` (Akaike 1974), ``"held_out"`` (likelihood
        of unseen rows, Smyth 2000), ``"bound"`` (variational, `BayesianGaussianMixture`). For
        all ``"silhouette"`` (Rousseeuw 1987), ``"calinski_harabasz"`` (1974),
        ``"davies_bouldin"`` (1979), ``"gap"`` (Tibshirani, Walther & Hastie 2001),
        ``"largest_gap"`` (Dudoit & Fridlyand 2002),
        ``"prediction_strength"`` (Tibshirani & Walther 2005), ``"stability"`` (Fang & Wang 2012),
        and, weak, ``"penalised_sse"``, ``"growth"`` (Hartigan 1975), ``"elbow"``.
    n_references : int, default=20
        Reference sets of the gap statistic.
    n_resamples : int, default=20
        Pairs of bootstrap samples, or halves of the rows.
    n_folds : int, default=5
    sample_size : int or None, default=None
        Approximate the silhouette by so many rows.
    random_state : int, RandomState or None, default=None
        Also of an estimator that has none of its own.
    callback : callable or None, default=None
        Called after every fit with a `SelectionProgress`; returning True leaves out the criteria
        that are not done.

    Returns
    -------
    KChoice
        `k`, `summary`, `picks`, `table`, `curves`, `model`, `plot(ax)`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.select import choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 0.1, (30, 2)) for m in (0, 1, 2)])
    >>> choose_k(X, k=5, criterion=["silhouette", "largest_gap"], random_state=0).picks
    {'silhouette': 3, 'largest_gap': 3}
    """
    who = "choose_k"
    given = {name: value for name, value in locals().items() if name in _RULES}
    check_params(who, given, _RULES)
    X, estimator = in_memory(who, X), KMeans() if estimator is None else estimator
    check_estimator(who, estimator)
    names = chosen_criteria(who, criterion, estimator, X)
    ks = numbers_of_clusters(who, k, None if is_remote(X) else int(X.shape[0]), up_to=_UP_TO)
    count_of(who, estimator)
    rng = check_random_state(random_state)
    watch = _Watch(callback)
    estimator = seeded(estimator, rng)
    seeds = {name: int(rng.randint(2**31)) for name in CRITERIA}
    with _own_complaints(who, type(estimator).__name__):
        fits = fits_along(estimator, X, ks, watch.tick)
        problem = Problem(
            who, X, clone(estimator), ks, fits,
            Settings(n_references, n_resamples, n_folds, sample_size),
            lambda name: np.random.RandomState(seeds[name]), watch.tick,
        )  # fmt: skip
        curves, events = _measure(problem, names, watch)
    best, agreement = recommend(ks, curves)
    weights = bic_weights(curves["bic"].values) if "bic" in curves else None
    model = None if best is None else fits.model(best)
    return KChoice(best, ks, curves, agreement, weights, model, [*_unsettled(fits), *events])


@contextmanager
def _own_complaints(who: str, estimator: str) -> Iterator[None]:
    """Let what an estimator says of rows that were given to `who` be said by that."""
    try:
        yield
    except ValueError as error:
        found = str(error)
        if not found.startswith(f"{estimator}: Input X"):
            raise
        raise ValueError(f"{who}: {found.removeprefix(f'{estimator}: ')}") from error


class _StoppedError(Exception):
    """A callback asked to stop."""


class _Watch:
    """Counts fits, and tells the callback."""

    def __init__(self, callback: Callable[[SelectionProgress], Any] | None) -> None:
        self.callback, self.n_fits, self.criterion = callback, 0, ""

    def tick(self, what: str, k: int) -> None:
        self.n_fits += 1
        if self.callback is not None and says_stop(
            self.callback(SelectionProgress(self.criterion, k, self.n_fits))
        ):
            raise _StoppedError


def _measure(
    problem: Problem, names: tuple[str, ...], watch: _Watch
) -> tuple[dict[str, Curve], list[str]]:
    """The curve of every criterion; none of those that had not ended when the callback stopped."""
    curves: dict[str, Curve] = {}
    alike = _all_equal(problem.X)
    for place, name in enumerate(names):
        watch.criterion = name
        try:
            found = CRITERIA[name].measure(problem)
        except _StoppedError:
            watch.callback = None  # fits that are still needed are made without asking
            return curves, [f"Stopped before {', '.join(names[place:])}"]
        kind = CRITERIA[name]
        if alike:
            sees_one = kind.sees_one and 1 in problem.ks and found.pick is not None
            pick = 1 if sees_one else None
            found = replace(found, pick=pick, reason="all rows are equal", finds_one=None)
        curves[name] = Curve(
            found.values, found.errors, found.pick, found.reason, kind.weak, kind.sees_one,
            found.finds_one,
        )  # fmt: skip
    return curves, []


def _all_equal(X: Any) -> bool:
    """Whether a table in memory has one row again and again, which no criterion can judge."""
    rows = None if is_remote(X) else table_of(X)
    return rows is not None and bool((rows == rows[0]).all())


def _unsettled(fits: Fits) -> list[str]:
    """A sentence on fits that ended before they settled."""
    if not isinstance(fits, OneByOne):
        return []
    left = [
        str(k)
        for k, model in fits.made.items()
        if any(event["what"] == "not settled" for event in getattr(model, "events_", ()))
    ]
    return [f"The fit with k = {', '.join(left)} did not settle"] if left else []
