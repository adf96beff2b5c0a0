"""Density clustering."""

from . import bench_hdbscan

WORKLOADS = [*bench_hdbscan.WORKLOADS]
