"""How each kind of method is fitted, and what it has to report."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._in_memory import rows_in_memory
from coterie.cli._found import Choices, Fact, Found, Predicted, course, notes_of, number
from coterie.cli._means import cluster_means
from coterie.data import Source, is_dask

if TYPE_CHECKING:
    from coterie.cli._methods import Method

#: An array, or what streams.
Rows = Any


def restarts(rows: Rows) -> int:
    """How often to begin at random: once where every step reads the rows anew."""
    return 1 if isinstance(rows, Source) else 10


def _gathered(model: Any) -> npt.NDArray[Any]:
    """The labels of a model, here."""
    if is_dask(model.labels_):
        model.labels_ = model.labels_.compute()
    labels: npt.NDArray[Any] = model.labels_
    return labels


def centroids(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """k-means and its kin."""
    model = way.new(choices, n_init=restarts(rows)).fit(rows)
    labels = _gathered(model)
    facts = {"SSE": number("sse", model.inertia_, f" ({units})"), **course(model.history_)}
    return Found(model, labels, model.cluster_centers_, facts)


def vocabulary(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """Hierarchical k-means, whose clusters are leaves."""
    model = way.new(choices).fit(rows)
    facts = {
        "SSE": number("sse", model.inertia_, f" ({units})"),
        "leaves": Fact("leaves", len(model.counts_), f"{len(model.counts_):,}"),
        "iterations": Fact("iterations", int(model.n_iter_), str(model.n_iter_)),
    }
    return Found(model, _gathered(model), model.cluster_centers_, facts, notes_of(model))


def _rows_of(model: Any, rows: Rows, centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Centres that are rows; of given distances, how far each is from all."""
    given = model.metric == "precomputed"
    return np.asarray(rows[centers] if given else model.cluster_centers_)


def _distances_held(way: Method, rows: Rows, choices: Choices) -> Rows:
    """Rows as they are, or in memory where they are distances."""
    if choices.own.get("metric") == "precomputed" and isinstance(rows, Source):
        return rows_in_memory(way.estimator, rows, "metric='precomputed'")
    return rows


def medoids(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """k-medoids."""
    rows = _distances_held(way, rows, choices)
    model = way.new(choices).fit(rows)
    labels = _gathered(model)
    deviation = number("total_deviation", model.inertia_, f" ({units})")
    facts = {"total dev.": deviation, **course(model.history_)}
    centers = _rows_of(model, rows, model.medoid_indices_)
    return Found(model, labels, centers, facts, notes_of(model))


def farthest(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """k-centre; centres are rows, in the order they were taken."""
    rows = _distances_held(way, rows, choices)
    model = way.new(choices).fit(rows)
    labels = _gathered(model)
    bound = model.lower_bound_
    best = (
        "" if bound is None else f", that of the best {model.n_clusters} is at least {bound:.10g}"
    )
    radius = number("radius", model.radius_, f"{best} ({units})")
    centers = _rows_of(model, rows, model.center_indices_)
    return Found(model, labels, centers, {"radius": radius, **course(model.history_)},
                 notes_of(model))  # fmt: skip


def leaders(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """Leaders, in the order they came; a centre is a leader."""
    model = way.new(choices).fit(rows)
    facts = {"threshold": number("threshold", model.threshold, f" ({units})")}
    return Found(model, model.labels_, model.cluster_centers_, facts | course(model.history_))


def warn_of_equal_rows(model: Any) -> None:
    """Warn of a cut that parted rows which are equal, as k-means warns of fewer clusters."""
    for event in model.events_:
        if event["what"] == "equal rows":
            warnings.warn(f"{type(model).__name__}: {event['detail']}.", UserWarning, stacklevel=2)


def merges(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """The tree of merges, cut; a centre is the mean of the rows of a cluster."""
    height = {"n_clusters": None} if "height" in choices.own else {}
    model = way.new(choices, **height).fit(rows)
    warn_of_equal_rows(model)
    facts = {"linkage": Fact("linkage", model.linkage, model.linkage)}
    if model.n_clusters_ > 1 and model.linkage != "genie":  # which is in no order of height
        above = model.Z_[1 - model.n_clusters_, 2]
        facts["cut below"] = number("cut_below", above, f" ({units})")
    facts |= course(model.history_)
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def density(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """DBSCAN, with eps read from the k-distances unless given."""
    model = way.new(choices, eps="auto").fit(rows)
    chosen = ", chosen by the k-distances" if model.eps == "auto" else ""
    facts = {
        "eps": number("eps", getattr(model, "eps_", model.eps), f" ({units}{chosen})"),
        "min_samples": Fact("min_samples", model.min_samples, str(model.min_samples)),
        **course(model.history_),
    }
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def condensed(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
    """HDBSCAN."""
    model = way.new(choices).fit(rows)
    size = int(getattr(model, "min_cluster_size_", model.min_cluster_size))
    facts = {"min. size": Fact("min_cluster_size", size, f"{size} rows per cluster")}
    facts |= course(model.history_)
    return Found(model, model.labels_, cluster_means(rows, model.labels_), facts)


def mixture(centers: Callable[[Any], Any], **defaults: Any) -> Any:
    """A way to fit a mixture, with the centres that `centers` finds in it."""

    def fit(way: Method, rows: Rows, choices: Choices, units: str) -> Found:
        model = way.new(choices, n_init=restarts(rows), **defaults).fit(rows)
        n_rows = rows.n_rows if isinstance(rows, Source) else len(rows)
        likelihood = model.score(rows) * n_rows
        facts = {"log-lik.": number("log_likelihood", likelihood, f" ({units})")}
        with suppress(AttributeError):  # a posterior has none
            facts["BIC"] = number("bic", model.bic(rows))
        told = ", ".join(f"{weight:.4f}" for weight in model.weights_)
        facts["weights"] = Fact("weights", model.weights_.tolist(), told)
        facts |= course(model.history_)
        labels = Predicted(model, rows) if isinstance(rows, Source) else model.predict(rows)
        return Found(model, labels, np.asarray(centers(model)), facts, notes_of(model))

    return fit


def _likely(categories: Any, probabilities: Any) -> list[str]:
    """The likeliest category of every component, with its probability."""
    best = probabilities.argmax(axis=1)
    shown = [category if isinstance(category, str) else f"{category:g}" for category in categories]
    return [f"{shown[c]} ({own[c]:.0%})" for c, own in zip(best, probabilities, strict=True)]


def likeliest(model: Any) -> Any:
    """A column of text for every column: likeliest categories."""
    pairs = zip(model.categories_, model.probabilities_, strict=True)
    return np.array([_likely(*pair) for pair in pairs], dtype=object).T


def mixed_centers(model: Any) -> Any:
    """Means of numeric columns, likeliest categories of the others."""
    means = iter(model.means_.T)
    pairs = iter(zip(model.categories_, model.probabilities_, strict=True))
    columns = [
        list(next(means)) if kind == "numeric" else _likely(*next(pairs)) for kind in model.kinds_
    ]
    return np.array(columns, dtype=object).T
