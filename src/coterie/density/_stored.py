"""Whether the parts of a model file fit together: such a file may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._labels import NOISE
from coterie.density._condense import CondensedTree
from coterie.density._select import FlatClusters
from coterie.distance import as_metric


def check_trees(
    tree: CondensedTree,
    flat: FlatClusters,
    n_rows: int,
    edges: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Refuse numbers that name nothing; lengths and types have been looked at."""
    n_clusters = tree.parent.size
    if n_clusters < 1:
        raise ValueError("there is no cluster in the tree, not even of all rows")
    _check_range("row_cluster", tree.row_cluster, 0, n_clusters)
    _check_range("heads", edges["heads"], 0, n_rows)
    _check_range("tails", edges["tails"], 0, n_rows)
    _check_range("selected_clusters_", flat.selected, 0, n_clusters)
    _check_range("label", flat.label, NOISE, flat.n_clusters)
    _check_range("size", tree.size, 1, n_rows + 1)
    if tree.birth[0] != 0 or not (tree.parent[1:] < np.arange(1, n_clusters)).all():
        raise ValueError("the clusters are not a tree")
    _check_range("parent", tree.parent[1:], 0, n_clusters)


def check_rows_loaded(model: Any, rows: Any, *, gower: bool) -> None:
    """Refuse kept rows that the metric could not have been given."""
    if gower:
        as_metric("gower", who=type(model).__name__, **model.gower_)
    elif not sp.issparse(rows):
        if not np.isfinite(rows).all():
            raise ValueError("the rows kept have values that are not finite")
        if rows.shape[1] != model.n_features_in_:
            raise ValueError("the rows kept and n_features_in_ differ in the number of columns")


def _check_range(name: str, part: npt.NDArray[Any], low: int, end: int) -> None:
    if part.size and (part.min() < low or part.max() >= end):
        raise ValueError(f"{name} must be whole numbers from {low} to {end - 1}")
