"""The methods ``coterie fit`` knows: each turns rows and choices into what there is to report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Choices:
    """What was asked for on the command line; `init` is None for the method's own."""

    n_clusters: int
    init: str | None
    n_init: int
    seed: int
    threads: int | None
    callback: Callable[[Any], None] | None
    linkage: str = "ward"


@dataclass(frozen=True)
class Found:
    """A fitted model with its labels and centres, and lines to print about it."""

    model: Any
    labels: npt.NDArray[Any]
    centers: npt.NDArray[Any]
    facts: dict[str, str]


def kmeans(rows: npt.NDArray[Any], choices: Choices, units: str) -> Found:
    """k-means."""
    from coterie import KMeans

    model = KMeans(
        n_clusters=choices.n_clusters,
        init=choices.init or "k-means++",
        n_init=choices.n_init,
        random_state=choices.seed,
        n_threads=choices.threads,
        callback=choices.callback,
    ).fit(rows)
    facts = {"SSE": f"{model.inertia_:.10g} ({units})", "iterations": str(model.n_iter_)}
    return Found(model, model.labels_, model.cluster_centers_, facts)


def gaussian(rows: npt.NDArray[Any], choices: Choices, units: str) -> Found:
    """A Gaussian mixture with full covariances, floored relative to the rows' own."""
    from coterie import GaussianMixture

    model = GaussianMixture(
        n_components=choices.n_clusters,
        init_params=choices.init or "kmeans",
        n_init=choices.n_init,
        reg_covar="auto",
        random_state=choices.seed,
        n_threads=choices.threads,
        callback=choices.callback,
    ).fit(rows)
    facts = {
        "log-lik.": f"{model.score(rows) * len(rows):.10g} ({units})",
        "BIC": f"{model.bic(rows):.10g}",
        "weights": ", ".join(f"{weight:.4f}" for weight in model.weights_),
        "iterations": str(model.n_iter_),
    }
    facts.update({f"note {i}": event["detail"] for i, event in enumerate(model.events_, 1)})
    return Found(model, model.predict(rows), model.means_, facts)


def agglomerative(rows: npt.NDArray[Any], choices: Choices, units: str) -> Found:
    """The tree of merges, cut; a centre is the mean of the rows of a cluster."""
    from coterie import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=choices.n_clusters, linkage=choices.linkage, n_threads=choices.threads
    ).fit(rows)
    centers = [rows[model.labels_ == label].mean(axis=0) for label in range(model.n_clusters_)]
    facts = {"linkage": choices.linkage}
    if model.n_clusters_ > 1:
        facts["cut below"] = f"{model.distances_[1 - model.n_clusters_]:.10g} ({units})"
    return Found(model, model.labels_, np.array(centers), facts)


METHODS: dict[str, Callable[[npt.NDArray[Any], Choices, str], Found]] = {
    "kmeans": kmeans,
    "gaussian": gaussian,
    "agglomerative": agglomerative,
}
