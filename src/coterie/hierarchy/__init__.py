"""Connectivity-based clustering: every merge of clusters, from single rows to all of them."""

from coterie.hierarchy.linkage import METHODS, linkage

__all__ = ["METHODS", "linkage"]
