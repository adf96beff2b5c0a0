"""Workloads of agglomerative clustering."""

from __future__ import annotations

from . import bench_linkage

WORKLOADS = bench_linkage.WORKLOADS
