"""Workloads of the choices."""

from __future__ import annotations

from . import bench_mixture

WORKLOADS = bench_mixture.WORKLOADS
