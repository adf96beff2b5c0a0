"""Clusters as compression: codebooks and product quantization."""

from coterie.quantize.product import ProductQuantizer

__all__ = ["ProductQuantizer"]
