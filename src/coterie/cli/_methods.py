"""The methods ``coterie fit`` knows: each turns rows and choices into what there is to report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import durations, iterations

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class Choices:
    """What was asked for on the command line; `own` holds the options given, by their names."""

    seed: int
    threads: int | None
    callback: Callable[[Any], None] | None
    own: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A fitted model with its labels, -1 for noise, and lines to print about it.

    `centers` has a row a cluster and a column a column: numbers, or text to be shown as it is.
    """

    model: Any
    labels: npt.NDArray[Any]
    centers: npt.NDArray[Any]
    facts: dict[str, str]


@dataclass(frozen=True)
class Method:
    """A method: what fits it, what it can be told, and which tables it takes.

    `options` are names on the command line, each with the estimator's parameter it is; "" if it
    is about reading the table.
    """

    fit: Callable[[Rows, Choices, str], Found]
    options: Mapping[str, str]
    takes_missing: bool = False
    takes_text: bool = False
    scales: bool = True
    has_tree: bool = False


_RESTARTS = {"clusters": "n_components", "init": "init_params", "n_init": "n_init"}
_MIXTURE = {**_RESTARTS, "max_iter": "max_iter"}
_ELLIPSES = {**_MIXTURE, "covariance": "covariance_type"}
#: Restarts of methods that begin at random.
_N_INIT = 10


def _params(options: Mapping[str, str], choices: Choices) -> dict[str, Any]:
    """Parameters of an estimator from what was asked for."""
    given = {options[name]: value for name, value in choices.own.items() if options.get(name)}
    return {"n_threads": choices.threads, **given}


def kmeans(rows: Rows, choices: Choices, units: str) -> Found:
    """k-means."""
    from coterie import KMeans

    model = KMeans(
        **{"n_init": _N_INIT, **_params(METHODS["kmeans"].options, choices)},
        random_state=choices.seed,
        callback=choices.callback,
    ).fit(rows)
    facts = {"SSE": f"{model.inertia_:.10g} ({units})", **_course(model.history_)}
    return Found(model, model.labels_, model.cluster_centers_, facts)


def agglomerative(rows: Rows, choices: Choices, units: str) -> Found:
    """The tree of merges, cut; a centre is the mean of the rows of a cluster."""
    from coterie import AgglomerativeClustering

    model = AgglomerativeClustering(**_params(METHODS["agglomerative"].options, choices)).fit(rows)
    facts = {"linkage": model.linkage}
    if model.n_clusters_ > 1:
        facts["cut below"] = f"{model.distances_[1 - model.n_clusters_]:.10g} ({units})"
    facts.update(_course(model.history_))
    return Found(model, model.labels_, _means(rows, model.labels_), facts)


def dbscan(rows: Rows, choices: Choices, units: str) -> Found:
    """DBSCAN, with eps read from the k-distances unless given."""
    from coterie import DBSCAN

    asked = {"eps": "auto", **_params(METHODS["dbscan"].options, choices)}
    model = DBSCAN(**asked).fit(rows)
    eps = getattr(model, "eps_", model.eps)
    chosen = ", chosen by the k-distances" if model.eps == "auto" else ""
    facts = {"eps": f"{eps:.10g} ({units}{chosen})", "min_samples": str(model.min_samples)}
    facts.update(_course(model.history_))
    return Found(model, model.labels_, _means(rows, model.labels_), facts)


def hdbscan(rows: Rows, choices: Choices, units: str) -> Found:
    """HDBSCAN."""
    from coterie import HDBSCAN

    model = HDBSCAN(**_params(METHODS["hdbscan"].options, choices)).fit(rows)
    size = getattr(model, "min_cluster_size_", model.min_cluster_size)
    facts = {"min. size": f"{size} rows a cluster", **_course(model.history_)}
    return Found(model, model.labels_, _means(rows, model.labels_), facts)


def _mixture(name: str, method: str, centers: Callable[[Any], Any], **defaults: Any) -> Any:
    """A way to fit the mixture of this name, with the centres that `centers` finds in it."""

    def fit(rows: Rows, choices: Choices, units: str) -> Found:
        import coterie.mixture

        model = getattr(coterie.mixture, name)(
            **{"n_init": _N_INIT, **defaults, **_params(METHODS[method].options, choices)},
            random_state=choices.seed,
            callback=choices.callback,
        ).fit(rows)
        facts = {"log-lik.": f"{model.score(rows) * len(rows):.10g} ({units})"}
        with suppress(AttributeError):  # a posterior has none
            facts["BIC"] = f"{model.bic(rows):.10g}"
        facts["weights"] = ", ".join(f"{weight:.4f}" for weight in model.weights_)
        facts.update(_course(model.history_))
        facts.update({f"note {i}": event["detail"] for i, event in enumerate(model.events_, 1)})
        return Found(model, model.predict(rows), np.asarray(centers(model)), facts)

    return fit


def _course(history: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How a fit went, by its history alone: steps that were taken, stages that took their time."""
    facts = {f"{step['step_name']}s": str(step["iteration"]) for step in iterations(history)}
    took = [f"{name} {seconds:.3f} s" for name, seconds in durations(history)]
    return facts | ({"stages": ", ".join(took)} if took else {})


def _likely(categories: Any, probabilities: Any) -> list[str]:
    """The likeliest category of every component, with its probability."""
    best = probabilities.argmax(axis=1)
    shown = [category if isinstance(category, str) else f"{category:g}" for category in categories]
    return [f"{shown[c]} ({own[c]:.0%})" for c, own in zip(best, probabilities, strict=True)]


def _likeliest(model: Any) -> Any:
    """A column of text for every column: likeliest categories."""
    pairs = zip(model.categories_, model.probabilities_, strict=True)
    return np.array([_likely(*pair) for pair in pairs], dtype=object).T


def _mixed_centers(model: Any) -> Any:
    """Means of numeric columns, likeliest categories of the others."""
    means = iter(model.means_.T)
    pairs = iter(zip(model.categories_, model.probabilities_, strict=True))
    columns = [
        list(next(means)) if kind == "numeric" else _likely(*next(pairs)) for kind in model.kinds_
    ]
    return np.array(columns, dtype=object).T


def _means(rows: Rows, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Mean row of every cluster."""
    n_clusters = int(labels.max(initial=-1)) + 1
    means = [rows[labels == label].mean(axis=0) for label in range(n_clusters)]
    return np.array(means).reshape(n_clusters, rows.shape[1])


_DENSITY = {"min_samples": "min_samples", "metric": "metric"}

METHODS: dict[str, Method] = {
    "kmeans": Method(
        kmeans,
        {"clusters": "n_clusters", "init": "init", "n_init": "n_init", "max_iter": "max_iter"},
    ),
    "gaussian": Method(
        _mixture("GaussianMixture", "gaussian", lambda model: model.means_, reg_covar="auto"),
        _ELLIPSES,
        takes_missing=True,
    ),
    "agglomerative": Method(
        agglomerative,
        {"clusters": "n_clusters", "linkage": "linkage", "metric": "metric"},
        has_tree=True,
    ),
    "dbscan": Method(dbscan, {"eps": "eps", **_DENSITY}),
    "hdbscan": Method(hdbscan, {"min_cluster_size": "min_cluster_size", **_DENSITY}),
    "student-t": Method(
        _mixture("StudentTMixture", "student-t", lambda model: model.means_, reg_covar="auto"),
        _ELLIPSES,
    ),
    "bayesian": Method(
        _mixture("BayesianGaussianMixture", "bayesian", lambda model: model.means_), _ELLIPSES
    ),
    "bernoulli": Method(
        _mixture("BernoulliMixture", "bernoulli", lambda model: model.probabilities_),
        _MIXTURE,
        scales=False,
    ),
    "poisson": Method(
        _mixture("PoissonMixture", "poisson", lambda model: model.rates_), _MIXTURE, scales=False
    ),
    "categorical": Method(
        _mixture("CategoricalMixture", "categorical", _likeliest),
        {**_MIXTURE, "categorical": ""},
        takes_missing=True,
        takes_text=True,
        scales=False,
    ),
    "mixed": Method(
        _mixture("MixedMixture", "mixed", _mixed_centers),
        {**_MIXTURE, "categorical": ""},
        takes_missing=True,
        takes_text=True,
        scales=False,
    ),
}
