"""Workloads of neighbours and the spanning tree."""

from __future__ import annotations

from . import bench_spanning_tree

WORKLOADS = bench_spanning_tree.WORKLOADS
