"""The methods ``coterie fit`` knows: what each can be told, and which tables it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from coterie.cli import _fits as fits
from coterie.cli._found import Choices, Found


@dataclass(frozen=True)
class Method:
    """A method: its estimator, what fits it, what it can be told, and which tables it takes.

    `home` is the estimator's module. `options` are names on the command line, each with the
    estimator's parameter it is; "" if it is about reading the table. `fixed` are parameters that
    make the method what it is. `least_rows` are needed whatever was asked for. A method that
    `streams` takes sources of rows as well; one that is `on_clusters` takes those of a cluster.
    """

    home: str
    estimator: str
    fit: Callable[[Method, Any, Choices, str], Found]
    options: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
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

    def imported(self) -> Any:
        """The class of the estimator."""
        return getattr(import_module(f"coterie.{self.home}"), self.estimator)

    def new(self, choices: Choices, **defaults: Any) -> Any:
        """The estimator with what was asked for, or else these defaults."""
        estimator = self.imported()
        asked = {self.options[name]: value for name, value in choices.own.items()
                 if self.options.get(name)}  # fmt: skip
        always = {"random_state": choices.seed, "callback": choices.callback,
                  "n_threads": choices.threads}  # fmt: skip
        known = estimator().get_params()
        own = {name: value for name, value in always.items() if name in known}
        return estimator(**{**defaults, **self.fixed, **asked, **own})


_KMEANS = {
    "clusters": "n_clusters", "init": "init", "n_init": "n_init", "max_iter": "max_iter",
    "tol": "tol",
}  # fmt: skip
_MIXTURE = {
    "clusters": "n_components", "init": "init_params", "n_init": "n_init", "max_iter": "max_iter",
    "tol": "tol",
}  # fmt: skip
_ELLIPSES = {**_MIXTURE, "covariance": "covariance_type"}
_BACKGROUND = {**_ELLIPSES, "noise": "noise"}
_DENSITY = {"min_samples": "min_samples", "metric": "metric"}

METHODS: dict[str, Method] = {
    "kmeans": Method(
        "centroid", "KMeans", fits.centroids, _KMEANS, least_rows=1, streams=True
    ),
    "minibatch": Method(
        "centroid", "MiniBatchKMeans", fits.centroids, {**_KMEANS, "batch_size": "batch_size"},
        least_rows=1, streams=True,
    ),
    "bisecting": Method(
        "centroid", "BisectingKMeans", fits.centroids,
        {**_KMEANS, "strategy": "bisecting_strategy"}, least_rows=1, streams=True,
    ),
    "spherical": Method(
        "centroid", "KMeans", fits.centroids, _KMEANS, fixed={"metric": "cosine"},
        scales=False, least_rows=1, streams=True,
    ),
    "hierarchical": Method(
        "quantize", "HierarchicalKMeans", fits.vocabulary,
        {"branching": "branching", "depth": "depth", "init": "init", "n_init": "n_init",
         "max_iter": "max_iter", "tol": "tol"},
        least_rows=1, streams=True,
    ),
    "kmedoids": Method(
        "medoid", "KMedoids", fits.medoids,
        {"clusters": "n_clusters", "init": "init", "n_init": "n_init", "max_iter": "max_iter",
         "search": "method", "metric": "metric"},
        least_rows=1, streams=True,
    ),
    "kcenter": Method(
        "medoid", "KCenter", fits.farthest, {"clusters": "n_clusters", "metric": "metric"},
        least_rows=1, streams=True,
    ),
    "leader": Method(
        "medoid", "LeaderClustering", fits.leaders,
        {"threshold": "threshold", "metric": "metric"}, least_rows=1, streams=True,
    ),
    "gaussian": Method(
        "mixture", "GaussianMixture",
        fits.mixture(lambda model: model.means_, reg_covar="auto"), _BACKGROUND,
        takes_missing=True, streams=True,
    ),
    "student-t": Method(
        "mixture", "StudentTMixture",
        fits.mixture(lambda model: model.means_, reg_covar="auto"),
        {**_BACKGROUND, "degrees_of_freedom": "degrees_of_freedom"}, streams=True,
    ),
    "bayesian": Method(
        "mixture", "BayesianGaussianMixture", fits.mixture(lambda model: model.means_),
        {**_ELLIPSES, "concentration": "weight_concentration_prior"}, streams=True,
    ),
    "bernoulli": Method(
        "mixture", "BernoulliMixture", fits.mixture(lambda model: model.probabilities_),
        {**_MIXTURE, "threshold": "threshold"}, scales=False, streams=True,
    ),
    "poisson": Method(
        "mixture", "PoissonMixture", fits.mixture(lambda model: model.rates_),
        {**_MIXTURE, "fractions": "fractions"}, scales=False, streams=True,
    ),
    "categorical": Method(
        "mixture", "CategoricalMixture", fits.mixture(fits.likeliest),
        {**_MIXTURE, "categorical": ""}, takes_missing=True, takes_text=True, scales=False,
        streams=True,
    ),
    "mixed": Method(
        "mixture", "MixedMixture", fits.mixture(fits.mixed_centers),
        {**_MIXTURE, "categorical": "kinds"}, takes_missing=True, takes_text=True, scales=False,
        streams=True,
    ),
    "agglomerative": Method(
        "hierarchy", "AgglomerativeClustering", fits.merges,
        {"clusters": "n_clusters", "height": "distance_threshold", "linkage": "linkage",
         "gini_threshold": "gini_threshold", "compress": "compress", "metric": "metric"},
        has_tree=True,
    ),
    "dbscan": Method(
        "density", "DBSCAN", fits.density, {"eps": "eps", **_DENSITY}, least_rows=1,
        on_clusters=True,
    ),
    "hdbscan": Method(
        "density", "HDBSCAN", fits.condensed,
        {"min_cluster_size": "min_cluster_size", "selection": "cluster_selection_method",
         "allow_single_cluster": "allow_single_cluster",
         **_DENSITY},
        takes_missing=True,
    ),
}  # fmt: skip

#: Methods that find their way where cells are missing, if the distance knows how.
_LACKING = ("kmedoids", "kcenter")


def way_of(method: str, metric: str | None = None) -> Method:
    """A method under a metric: Gower's takes text and missing cells, and scales by itself."""
    way = METHODS[method]
    if metric == "gower" and "metric" in way.options and method != "leader":
        return replace(
            way, options={**way.options, "categorical": ""}, takes_missing=True, takes_text=True,
            scales=False, streams=False, on_clusters=False,
        )  # fmt: skip
    if metric == "nan_euclidean" and method in _LACKING:
        return replace(way, takes_missing=True)
    return way
