"""Clustering, the whole of it, under one interface."""

from coterie._config import get_options, options, set_options, show_config
from coterie._files import load
from coterie._threads import register_with_threadpoolctl
from coterie.centroid import BisectingKMeans, KMeans, MiniBatchKMeans, kmeans_plusplus
from coterie.density import DBSCAN

register_with_threadpoolctl()

__all__ = [
    "DBSCAN",
    "BisectingKMeans",
    "KMeans",
    "MiniBatchKMeans",
    "get_options",
    "kmeans_plusplus",
    "load",
    "options",
    "set_options",
    "show_config",
]
