"""Compression: product quantization against FAISS."""

from __future__ import annotations

from . import bench_product

WORKLOADS = bench_product.WORKLOADS
