"""Clusters as compression: codebooks and trees of them."""

from coterie.quantize.hierarchical import HierarchicalKMeans

__all__ = ["HierarchicalKMeans"]
