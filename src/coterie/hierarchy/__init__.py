"""Connectivity-based clustering: every merge of clusters, from single rows to all of them."""

from coterie.hierarchy.agglomerative import AgglomerativeClustering
from coterie.hierarchy.linkage import METHODS, linkage

__all__ = ["METHODS", "AgglomerativeClustering", "linkage"]
