"""Workloads and studies of what is chosen, and whether there is anything to choose."""

from __future__ import annotations

from . import bench_dip, bench_mixture

WORKLOADS = [*bench_dip.WORKLOADS, *bench_mixture.WORKLOADS]
