"""Workloads of the density family."""

from __future__ import annotations

from . import bench_dbscan, bench_hdbscan

WORKLOADS = [*bench_dbscan.WORKLOADS, *bench_hdbscan.WORKLOADS]
