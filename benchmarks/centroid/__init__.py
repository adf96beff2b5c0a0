"""Workloads of the centroid family."""

from __future__ import annotations

from . import bench_kmeans, bench_lloyd, bench_minibatch, bench_seeding

WORKLOADS = [
    *bench_kmeans.WORKLOADS,
    *bench_lloyd.WORKLOADS,
    *bench_seeding.WORKLOADS,
    *bench_minibatch.WORKLOADS,
]
