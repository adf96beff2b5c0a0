"""The table of criteria: what each is called, what it asks of an estimator, what it can say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.mixture import BayesianGaussianMixture
from coterie.select._by_labels import by_calinski_harabasz, by_davies_bouldin, by_silhouette
from coterie.select._by_likelihood import by_aic, by_bic, by_bound, by_held_out, by_icl
from coterie.select._by_resampling import by_prediction_strength, by_stability
from coterie.select._by_squares import by_elbow, by_growth, by_penalty
from coterie.select._gap import by_gap, by_largest_gap
from coterie.select._grow import table_of
from coterie.select._problem import Measured, Problem, is_remote


@dataclass(frozen=True)
class Criterion:
    """A way to choose k.

    `asks` names what it needs (see `_NEEDS`), `sees_one` tells whether it can find that all rows
    are one cluster, and `weak` marks one whose pick does not count in the recommendation while
    others have one.
    """

    measure: Callable[[Problem], Measured]
    asks: tuple[str, ...]
    sees_one: bool = False
    weak: bool = False


_ROWS, _REFITS = ("euclidean",), ("memory", "predict")

CRITERIA: dict[str, Criterion] = {
    "bic": Criterion(by_bic, ("mixture", "likelihood"), sees_one=True),
    "icl": Criterion(by_icl, ("mixture", "likelihood", "memberships"), sees_one=True),
    "aic": Criterion(by_aic, ("mixture", "likelihood"), sees_one=True),
    "bound": Criterion(by_bound, ("bayesian",), sees_one=True),
    "held_out": Criterion(by_held_out, ("mixture", "memory"), sees_one=True),
    "silhouette": Criterion(by_silhouette, ()),
    "calinski_harabasz": Criterion(by_calinski_harabasz, _ROWS),
    "davies_bouldin": Criterion(by_davies_bouldin, _ROWS),
    "gap": Criterion(by_gap, ("euclidean", "memory", "array"), sees_one=True),
    "largest_gap": Criterion(by_largest_gap, ("euclidean", "memory", "array"), sees_one=True),
    "prediction_strength": Criterion(by_prediction_strength, _REFITS, sees_one=True),
    "stability": Criterion(by_stability, _REFITS),
    "penalised_sse": Criterion(by_penalty, ("euclidean", "memory"), sees_one=True, weak=True),
    "growth": Criterion(by_growth, _ROWS, sees_one=True, weak=True),
    "elbow": Criterion(by_elbow, _ROWS, weak=True),
}

_FOR_MIXTURES = ("bic", "icl", "held_out")
_FOR_BAYES = ("bound", "held_out")
_FOR_OTHERS = ("silhouette", "calinski_harabasz", "davies_bouldin", "gap", "prediction_strength")

#: What a criterion may need, and how to say that it is not there.
_NEEDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "mixture": (
        lambda estimator, X: hasattr(estimator, "score_samples"),
        "is for mixtures, which have a likelihood",
    ),
    "likelihood": (
        lambda estimator, X: (
            hasattr(estimator, "bic") and not isinstance(estimator, BayesianGaussianMixture)
        ),
        "counts parameters that are estimated; use 'bound' or 'held_out'",
    ),
    "memberships": (
        lambda estimator, X: hasattr(estimator, "icl"),
        "needs the method icl, which this mixture does not have; use 'bic'",
    ),
    "bayesian": (
        lambda estimator, X: isinstance(estimator, BayesianGaussianMixture),
        "is for BayesianGaussianMixture, which has a bound on the evidence",
    ),
    "euclidean": (
        lambda estimator, X: getattr(estimator, "metric", "euclidean") == "euclidean",
        "sums squared Euclidean distances, which metric={metric!r} does not; use 'silhouette'",
    ),
    "memory": (lambda estimator, X: not is_remote(X), "needs rows in memory; pass an array"),
    "array": (lambda estimator, X: table_of(X) is not None, "needs a table of numbers; pass one"),
    "predict": (
        lambda estimator, X: (
            hasattr(estimator, "predict") and getattr(estimator, "metric", None) != "precomputed"
        ),
        "labels rows that were not in the fit, which this estimator cannot",
    ),
}


def missing(name: str, estimator: Any, X: Any) -> str | None:
    """What a criterion needs and does not have here, in words."""
    for need in CRITERIA[name].asks:
        is_met, words = _NEEDS[need]
        if not is_met(estimator, X):
            return words.format(metric=getattr(estimator, "metric", None))
    return None


def chosen_criteria(who: str, asked: Any, estimator: Any, X: Any) -> tuple[str, ...]:
    """Names of the criteria that were asked for, or those that suit the estimator."""
    if asked is None:
        names: Sequence[str] = _FOR_OTHERS
        if hasattr(estimator, "score_samples"):
            names = _FOR_BAYES if isinstance(estimator, BayesianGaussianMixture) else _FOR_MIXTURES
        return tuple(name for name in names if missing(name, estimator, X) is None)
    names = tuple(asked) if isinstance(asked, Iterable) and not isinstance(asked, str) else (asked,)
    for name in names:
        if name not in CRITERIA:
            raise ValueError(
                f"{who}: criterion={name!r} was asked for; use names out of {', '.join(CRITERIA)}."
            )
        lacking = missing(name, estimator, X)
        if lacking is not None:
            raise ValueError(
                f"{who}: criterion={name!r} with estimator={type(estimator).__name__}: it "
                f"{lacking}."
            )
    if not names:
        raise ValueError(f"{who}: criterion={asked!r} names no criterion; use None for a choice.")
    return tuple(dict.fromkeys(names))
