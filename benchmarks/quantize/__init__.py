"""Workloads of the quantize family."""

from __future__ import annotations

from . import bench_image

WORKLOADS = bench_image.WORKLOADS
