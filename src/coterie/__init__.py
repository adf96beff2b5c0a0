"""Clustering, the whole of it, under one interface."""

from coterie._config import get_options, options, set_options, show_config
from coterie._files import load
from coterie.centroid import KMeans

__all__ = ["KMeans", "get_options", "load", "options", "set_options", "show_config"]
