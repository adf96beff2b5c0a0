"""Workloads of agglomerative clustering."""

from __future__ import annotations

from . import bench_genie, bench_linkage

WORKLOADS = [*bench_linkage.WORKLOADS, *bench_genie.WORKLOADS]
