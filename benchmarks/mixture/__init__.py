"""Workloads of the mixture family."""

from __future__ import annotations

from . import bench_bernoulli, bench_gaussian

WORKLOADS = [*bench_gaussian.WORKLOADS, *bench_bernoulli.WORKLOADS]
