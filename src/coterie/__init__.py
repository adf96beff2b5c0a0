"""Clustering, the whole of it, under one interface.

Families are imported when first asked for, so that importing coterie costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie._config import get_options, options, set_options, show_config
from coterie._files import load
from coterie._threads import register_with_threadpoolctl

if TYPE_CHECKING:
    from coterie.centroid import BisectingKMeans, KMeans, MiniBatchKMeans, kmeans_plusplus
    from coterie.density import DBSCAN, HDBSCAN
    from coterie.density.dbscan import dbscan
    from coterie.hierarchy import AgglomerativeClustering
    from coterie.hierarchy.linkage import linkage
    from coterie.mixture import (
        BayesianGaussianMixture,
        BernoulliMixture,
        CategoricalMixture,
        GaussianMixture,
        MixedMixture,
        PoissonMixture,
        StudentTMixture,
    )
    from coterie.neighbors import spanning_tree

register_with_threadpoolctl()

#: Where what is imported late lives; those modules themselves are attributes too.
_HOMES = {
    "centroid": ("BisectingKMeans", "KMeans", "MiniBatchKMeans", "kmeans_plusplus"),
    "density": ("DBSCAN", "HDBSCAN", "dbscan"),
    "hierarchy": ("AgglomerativeClustering", "linkage"),
    "mixture": (
        "BayesianGaussianMixture",
        "BernoulliMixture",
        "CategoricalMixture",
        "GaussianMixture",
        "MixedMixture",
        "PoissonMixture",
        "StudentTMixture",
    ),
    "neighbors": ("spanning_tree",),
    "data": (),
    "distance": (),
    "select": (),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name == home:
            return import_module(f"coterie.{home}")
        if name in names:
            value = getattr(import_module(f"coterie.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_HOMES})


__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "AgglomerativeClustering",
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "BisectingKMeans",
    "CategoricalMixture",
    "GaussianMixture",
    "KMeans",
    "MiniBatchKMeans",
    "MixedMixture",
    "PoissonMixture",
    "StudentTMixture",
    "dbscan",
    "get_options",
    "kmeans_plusplus",
    "linkage",
    "load",
    "options",
    "set_options",
    "show_config",
    "spanning_tree",
]
