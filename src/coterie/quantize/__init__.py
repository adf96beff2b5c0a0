"""Clusters as compression: codebooks, trees of them, and product quantization."""

from coterie.quantize.hierarchical import HierarchicalKMeans
from coterie.quantize.product import ProductQuantizer

__all__ = ["HierarchicalKMeans", "ProductQuantizer"]
