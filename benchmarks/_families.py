"""Know every workload by its family and its name."""

from __future__ import annotations

from collections.abc import Sequence

from . import (
    centroid,
    density,
    evaluate,
    hierarchy,
    medoid,
    mixture,
    neighbors,
    quantize,
    search,
    select,
)
from ._harness import Workload

FAMILIES: dict[str, Sequence[Workload]] = {
    "neighbors": neighbors.WORKLOADS,
    "centroid": centroid.WORKLOADS,
    "medoid": medoid.WORKLOADS,
    "quantize": quantize.WORKLOADS,
    "density": density.WORKLOADS,
    "hierarchy": hierarchy.WORKLOADS,
    "mixture": mixture.WORKLOADS,
    "search": search.WORKLOADS,
    "evaluate": evaluate.WORKLOADS,
    "select": select.WORKLOADS,
}


def all_workloads() -> list[Workload]:
    """Every workload, family by family."""
    return [workload for workloads in FAMILIES.values() for workload in workloads]


def find_workload(name: str) -> Workload:
    """Look a workload up by its name."""
    known = {workload.name: workload for workload in all_workloads()}
    if name not in known:
        raise LookupError(f"No workload is called {name!r}; there are: {', '.join(known)}.")
    return known[name]
