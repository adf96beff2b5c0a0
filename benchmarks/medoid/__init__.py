"""Workloads of the medoid family."""

from __future__ import annotations

from . import bench_farthest, bench_graph, bench_kmedoids

WORKLOADS = bench_kmedoids.WORKLOADS + bench_graph.WORKLOADS + bench_farthest.WORKLOADS
