"""Whether the trees of a model file fit together: such a file may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.density._condense import CondensedTree
from coterie.density._select import NOISE, FlatClusters


def check_stored(
    tree: CondensedTree,
    flat: FlatClusters,
    core_distances: npt.NDArray[Any],
    edges: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Refuse parts of the wrong length or type, and numbers that name nothing."""
    n_rows, n_clusters = core_distances.shape[0], tree.parent.size
    _check_parts("row", n_rows, {
        "core_distances_": (core_distances, "f"),
        "row_cluster": (tree.row_cluster, "i"), "row_lambda": (tree.row_lambda, "f"),
    })  # fmt: skip
    _check_parts("edge", n_rows - 1, {
        name: (edges[name], "f" if name == "lengths" else "i")
        for name in ("heads", "tails", "lengths")
    })  # fmt: skip
    _check_parts("cluster of the tree", n_clusters, {
        "parent": (tree.parent, "i"), "size": (tree.size, "i"), "label": (flat.label, "i"),
        "birth": (tree.birth, "f"), "death": (tree.death, "f"), "peak": (tree.peak, "f"),
        "stability": (tree.stability, "f"),
    })  # fmt: skip
    _check_range("row_cluster", tree.row_cluster, 0, n_clusters)
    _check_range("heads", edges["heads"], 0, n_rows)
    _check_range("tails", edges["tails"], 0, n_rows)
    _check_range("selected_clusters_", flat.selected, 0, n_clusters)
    _check_range("label", flat.label, NOISE, flat.n_clusters)
    if tree.birth[0] != 0 or not (tree.parent[1:] < np.arange(1, n_clusters)).all():
        raise ValueError("the clusters are not a tree")
    _check_range("parent", tree.parent[1:], 0, n_clusters)


def _check_parts(what: str, length: int, parts: Mapping[str, tuple[Any, str]]) -> None:
    for name, (part, kind) in parts.items():
        if part.shape != (length,) or part.dtype.kind != kind:
            raise ValueError(f"{name} must have a number for each {what}")


def _check_range(name: str, part: npt.NDArray[Any], low: int, end: int) -> None:
    if part.dtype.kind != "i" or (part.size and (part.min() < low or part.max() >= end)):
        raise ValueError(f"{name} must be whole numbers from {low} to {end - 1}")
