"""Workloads of compression: pictures, product quantization and the vocabulary tree."""

from __future__ import annotations

from . import bench_image, bench_product, bench_tree

WORKLOADS = [*bench_product.WORKLOADS, *bench_tree.WORKLOADS, *bench_image.WORKLOADS]
