"""The methods ``coterie fit`` knows: each turns rows and choices into what there is to report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import durations, iterations
from coterie._in_memory import rows_in_memory
from coterie.cli._labelling import labels_of
from coterie.cli._means import cluster_means
from coterie.data import Source, is_dask
from coterie.table_model import TableModel

#: An array, or what streams.
Rows = Any


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

    `labels` are an array; of rows that stream they may come some at a time.

    `centers` has a row a cluster and a column a column: numbers, or text to be shown as it is.
    `notes` are in the estimator's own words.
    """

    model: Any
    labels: npt.NDArray[Any] | Iterable[npt.NDArray[Any]]
    centers: npt.NDArray[Any]
    facts: dict[str, str]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Method:
    """A method: its estimator, what fits it, what it can be told, and which tables it takes.

    `options` are names on the command line, each with the estimator's parameter it is; "" if it
    is about reading the table. `least_rows` are needed whatever was asked for. A method that
    `streams` takes sources of rows as well; one that is `on_clusters` takes those of a cluster.
    """

    estimator: str
    fit: Callable[[Rows, Choices, str], Found]
    options: Mapping[str, str]
    takes_missing: bool = False
    takes_text: bool = False
    scales: bool = True
    has_tree: bool = False
    least_rows: int = 2
    streams: bool = False
    on_clusters: bool = False

    @property
    def takes_clusters(self) -> bool:
        return self.streams or self.on_clusters


_RESTARTS = {"clusters": "n_components", "init": "init_params", "n_init": "n_init"}
_MIXTURE = {**_RESTARTS, "max_iter": "max_iter"}
_ELLIPSES = {**_MIXTURE, "covariance": "covariance_type"}


def restarts(rows: Rows) -> int:
    """How often to begin at random: once where every step reads the rows anew."""
    return 1 if isinstance(rows, Source) else 10


def _params(options: Mapping[str, str], choices: Choices) -> dict[str, Any]:
    """Parameters of an estimator from what was asked for."""
    given = {options[name]: value for name, value in choices.own.items() if options.get(name)}
    return {"n_threads": choices.threads, **given}


def kmeans(rows: Rows, choices: Choices, units: str) -> Found:
    """k-means."""
    from coterie import KMeans

    model: Any = KMeans(
        **{"n_init": restarts(rows), **_params(METHODS["kmeans"].options, choices)},
        random_state=choices.seed,
        callback=choices.callback,
    ).fit(rows)
    if is_dask(model.labels_):
        model.labels_ = model.labels_.compute()
    facts = {"SSE": f"{model.inertia_:.10g} ({units})", **_course(model.history_)}
    return Found(model, model.labels_, model.cluster_centers_, facts)


def _rows_of(model: Any, rows: Rows, centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Centres that are rows; of given distances, how far each is from all."""
    given = model.metric == "precomputed"
    return np.asarray(rows[centers] if given else model.cluster_centers_)


def _distances_held(who: str, rows: Rows, asked: dict[str, Any]) -> Rows:
    """Rows as they are, or in memory where they are distances."""
    if asked.get("metric") == "precomputed" and isinstance(rows, Source):
        return rows_in_memory(who, rows, "metric='precomputed'")
    return rows


def kmedoids(rows: Rows, choices: Choices, units: str) -> Found:
    """k-medoids."""
    from coterie import KMedoids

    asked = _params(METHODS["kmedoids"].options, choices)
    rows = _distances_held("KMedoids", rows, asked)
    model = KMedoids(**asked, random_state=choices.seed, callback=choices.callback).fit(rows)
    if is_dask(model.labels_):
        model.labels_ = model.labels_.compute()
    facts = {"total dev.": f"{model.inertia_:.10g} ({units})", **_course(model.history_)}
    notes = [event["detail"] for event in model.events_]
    return Found(model, model.labels_, _rows_of(model, rows, model.medoid_indices_), facts, notes)


def kcenter(rows: Rows, choices: Choices, units: str) -> Found:
    """k-centre; centres are rows, in the order they were taken."""
    from coterie import KCenter

    asked = _params(METHODS["kcenter"].options, choices)
    rows = _distances_held("KCenter", rows, asked)
    model = KCenter(**asked, random_state=choices.seed).fit(rows)
    if is_dask(model.labels_):
        model.labels_ = model.labels_.compute()
    bound = model.lower_bound_
    best = (
        "" if bound is None else f", that of the best {model.n_clusters} is at least {bound:.10g}"
    )
    facts = {"radius": f"{model.radius_:.10g}{best} ({units})", **_course(model.history_)}
    notes = [event["detail"] for event in model.events_]
    return Found(model, model.labels_, _rows_of(model, rows, model.center_indices_), facts, notes)


def leader(rows: Rows, choices: Choices, units: str) -> Found:
    """Leaders, in the order they came; a centre is a leader."""
    from coterie import LeaderClustering

    model = LeaderClustering(**_params(METHODS["leader"].options, choices)).fit(rows)
    facts = {"threshold": f"{model.threshold:.10g} ({units})", **_course(model.history_)}
    return Found(model, model.labels_, model.cluster_centers_, facts)


def agglomerative(rows: Rows, choices: Choices, units: str) -> Found:
    """The tree of merges, cut; a centre is the mean of the rows of a cluster."""
    from coterie import AgglomerativeClustering

    model = AgglomerativeClustering(**_params(METHODS["agglomerative"].options, choices)).fit(rows)
    facts = {"linkage": model.linkage}
    if model.n_clusters_ > 1 and model.linkage != "genie":  # which is in no order of height
        facts["cut below"] = f"{model.distances_[1 - model.n_clusters_]:.10g} ({units})"
    facts.update(_course(model.history_))
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def dbscan(rows: Rows, choices: Choices, units: str) -> Found:
    """DBSCAN, with eps read from the k-distances unless given."""
    from coterie import DBSCAN

    asked = {"eps": "auto", **_params(METHODS["dbscan"].options, choices)}
    model = DBSCAN(**asked).fit(rows)
    eps = getattr(model, "eps_", model.eps)
    chosen = ", chosen by the k-distances" if model.eps == "auto" else ""
    facts = {"eps": f"{eps:.10g} ({units}{chosen})", "min_samples": str(model.min_samples)}
    facts.update(_course(model.history_))
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def hdbscan(rows: Rows, choices: Choices, units: str) -> Found:
    """HDBSCAN."""
    from coterie import HDBSCAN

    model = HDBSCAN(**_params(METHODS["hdbscan"].options, choices)).fit(rows)
    size = getattr(model, "min_cluster_size_", model.min_cluster_size)
    facts = {"min. size": f"{size} rows a cluster", **_course(model.history_)}
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def _mixture(method: str, centers: Callable[[Any], Any], **defaults: Any) -> Any:
    """A way to fit a mixture, with the centres that `centers` finds in it."""

    def fit(rows: Rows, choices: Choices, units: str) -> Found:
        import coterie.mixture

        way = METHODS[method]
        model = getattr(coterie.mixture, way.estimator)(
            **{"n_init": restarts(rows), **defaults, **_params(way.options, choices)},
            random_state=choices.seed,
            callback=choices.callback,
        ).fit(rows)
        n_rows = rows.n_rows if isinstance(rows, Source) else len(rows)
        facts = {"log-lik.": f"{model.score(rows) * n_rows:.10g} ({units})"}
        with suppress(AttributeError):  # a posterior has none
            facts["BIC"] = f"{model.bic(rows):.10g}"
        facts["weights"] = ", ".join(f"{weight:.4f}" for weight in model.weights_)
        facts.update(_course(model.history_))
        notes = [event["detail"] for event in model.events_]
        labels = Predicted(model, rows) if isinstance(rows, Source) else model.predict(rows)
        return Found(model, labels, np.asarray(centers(model)), facts, notes)

    return fit


@dataclass(frozen=True)
class Predicted:
    """Labels of rows that stream, some at a time."""

    model: Any
    rows: Source

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        # Rows are scaled already and have no names, as those of the fit.
        yield from labels_of(TableModel(self.model), self.rows)


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


_DENSITY = {"min_samples": "min_samples", "metric": "metric"}

METHODS: dict[str, Method] = {
    "kmeans": Method(
        "KMeans",
        kmeans,
        {"clusters": "n_clusters", "init": "init", "n_init": "n_init", "max_iter": "max_iter"},
        least_rows=1,
        streams=True,
    ),
    "kmedoids": Method(
        "KMedoids",
        kmedoids,
        {
            "clusters": "n_clusters",
            "init": "init",
            "n_init": "n_init",
            "max_iter": "max_iter",
            "metric": "metric",
        },
        least_rows=1,
        streams=True,
    ),
    "kcenter": Method(
        "KCenter",
        kcenter,
        {"clusters": "n_clusters", "metric": "metric"},
        least_rows=1,
        streams=True,
    ),
    "leader": Method(
        "LeaderClustering",
        leader,
        {"threshold": "threshold", "metric": "metric"},
        least_rows=1,
        streams=True,
    ),
    "gaussian": Method(
        "GaussianMixture",
        _mixture("gaussian", lambda model: model.means_, reg_covar="auto"),
        _ELLIPSES,
        takes_missing=True,
        streams=True,
    ),
    "agglomerative": Method(
        "AgglomerativeClustering",
        agglomerative,
        {
            "clusters": "n_clusters",
            "linkage": "linkage",
            "gini_threshold": "gini_threshold",
            "metric": "metric",
        },
        has_tree=True,
    ),
    "dbscan": Method("DBSCAN", dbscan, {"eps": "eps", **_DENSITY}, least_rows=1, on_clusters=True),
    "hdbscan": Method("HDBSCAN", hdbscan, {"min_cluster_size": "min_cluster_size", **_DENSITY}),
    "student-t": Method(
        "StudentTMixture",
        _mixture("student-t", lambda model: model.means_, reg_covar="auto"),
        _ELLIPSES,
        streams=True,
    ),
    "bayesian": Method(
        "BayesianGaussianMixture",
        _mixture("bayesian", lambda model: model.means_),
        _ELLIPSES,
        streams=True,
    ),
    "bernoulli": Method(
        "BernoulliMixture",
        _mixture("bernoulli", lambda model: model.probabilities_),
        {**_MIXTURE, "threshold": "threshold"},
        scales=False,
        streams=True,
    ),
    "poisson": Method(
        "PoissonMixture",
        _mixture("poisson", lambda model: model.rates_),
        {**_MIXTURE, "fractions": "fractions"},
        scales=False,
        streams=True,
    ),
    "categorical": Method(
        "CategoricalMixture",
        _mixture("categorical", _likeliest),
        {**_MIXTURE, "categorical": ""},
        takes_missing=True,
        takes_text=True,
        scales=False,
        streams=True,
    ),
    "mixed": Method(
        "MixedMixture",
        _mixture("mixed", _mixed_centers),
        {**_MIXTURE, "categorical": "kinds"},
        takes_missing=True,
        takes_text=True,
        scales=False,
        streams=True,
    ),
}
