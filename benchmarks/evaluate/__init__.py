"""Workloads of the scores."""

from __future__ import annotations

from . import bench_external, bench_internal

WORKLOADS = bench_internal.WORKLOADS + bench_external.WORKLOADS
