"""Clusters as compression: codebooks, and pictures in few colours."""

from coterie.quantize.codebook import VectorQuantizer
from coterie.quantize.image import QuantizedImage, image

__all__ = ["QuantizedImage", "VectorQuantizer", "image"]
