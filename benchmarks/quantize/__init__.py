"""Workloads of the quantize family."""

from __future__ import annotations

from . import bench_tree

WORKLOADS = [*bench_tree.WORKLOADS]
