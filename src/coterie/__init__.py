"""Clustering, the whole of it, under one interface."""

from coterie._config import get_options, options, set_options, show_config
from coterie._files import load
from coterie._threads import register_with_threadpoolctl
from coterie.centroid import BisectingKMeans, KMeans, MiniBatchKMeans, kmeans_plusplus
from coterie.density import DBSCAN, HDBSCAN
from coterie.hierarchy import AgglomerativeClustering, linkage
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
    "get_options",
    "kmeans_plusplus",
    "linkage",
    "load",
    "options",
    "set_options",
    "show_config",
    "spanning_tree",
]
