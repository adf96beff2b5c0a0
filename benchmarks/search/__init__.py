"""Workloads of search among rows and codes."""

from __future__ import annotations

from . import bench_codes, bench_flat, bench_ivf

WORKLOADS = [*bench_flat.WORKLOADS, *bench_codes.WORKLOADS, *bench_ivf.WORKLOADS]
