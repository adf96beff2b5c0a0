"""Clusters as compression: codebooks, trees of them, product quantization, pictures."""

from coterie.quantize.codebook import VectorQuantizer
from coterie.quantize.hierarchical import HierarchicalKMeans
from coterie.quantize.image import QuantizedImage, image
from coterie.quantize.product import ProductQuantizer

__all__ = ["HierarchicalKMeans", "ProductQuantizer", "QuantizedImage", "VectorQuantizer", "image"]
