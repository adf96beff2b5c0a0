"""Clustering, the whole of it, under one interface.

Everything but the kernels is imported when first asked for, so that importing coterie costs next to
nothing. The kernels are there from the start because threadpoolctl limits only what is loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie._threads import register_with_threadpoolctl

if TYPE_CHECKING:
    from coterie._config import get_options, options, set_options, show_config
    from coterie._files import load
    from coterie.centroid import BisectingKMeans, KMeans, MiniBatchKMeans, k_means, kmeans_plusplus
    from coterie.density import DBSCAN, HDBSCAN
    from coterie.density.dbscan import dbscan
    from coterie.hierarchy import AgglomerativeClustering, FeatureAgglomeration
    from coterie.hierarchy.linkage import linkage
    from coterie.hierarchy.trees import linkage_tree, ward_tree
    from coterie.medoid import KCenter, KMedoids, LeaderClustering, farthest_first
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
    from coterie.quantize import HierarchicalKMeans, ProductQuantizer, VectorQuantizer
    from coterie.report.study import study
    from coterie.table_model import TableModel

    __version__: str

register_with_threadpoolctl()

#: Where what is imported late lives; those modules themselves are attributes too.
_HOMES = {
    "_config": ("get_options", "options", "set_options", "show_config"),
    "_files": ("load",),
    "centroid": ("BisectingKMeans", "KMeans", "MiniBatchKMeans", "k_means", "kmeans_plusplus"),
    "density": ("DBSCAN", "HDBSCAN", "dbscan"),
    "hierarchy": (
        "AgglomerativeClustering",
        "FeatureAgglomeration",
        "linkage",
        "linkage_tree",
        "ward_tree",
    ),
    "medoid": ("KCenter", "KMedoids", "LeaderClustering", "farthest_first"),
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
    "quantize": ("HierarchicalKMeans", "ProductQuantizer", "VectorQuantizer"),
    "report": ("study",),
    "table_model": ("TableModel",),
    "data": (),
    "distance": (),
    "errors": (),
    "evaluate": (),
    "plots": (),
    "search": (),
    "select": (),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("coterie")
    for home, names in _HOMES.items():
        if name == home:
            return import_module(f"coterie.{home}")
        if name in names:
            value = getattr(import_module(f"coterie.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    modules = {home for home in _HOMES if not home.startswith("_")}
    return sorted({*globals(), *__all__, *modules, "__version__"})


__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "AgglomerativeClustering",
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "BisectingKMeans",
    "CategoricalMixture",
    "FeatureAgglomeration",
    "GaussianMixture",
    "HierarchicalKMeans",
    "KCenter",
    "KMeans",
    "KMedoids",
    "LeaderClustering",
    "MiniBatchKMeans",
    "MixedMixture",
    "PoissonMixture",
    "ProductQuantizer",
    "StudentTMixture",
    "TableModel",
    "VectorQuantizer",
    "dbscan",
    "farthest_first",
    "get_options",
    "k_means",
    "kmeans_plusplus",
    "linkage",
    "linkage_tree",
    "load",
    "options",
    "set_options",
    "show_config",
    "spanning_tree",
    "study",
    "ward_tree",
]
