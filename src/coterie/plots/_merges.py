"""Tables of merges as pictures need them: checked, and with their leaves in a good order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from coterie.distance import condensed
from coterie.plots._branches import lay_branches

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def leaf_order(tree: Any, *, order: str, X: Any) -> Ints:
    """Rows as their leaves stand in a dendrogram of the same `order`, first to last."""
    Z = merge_table(tree)
    if order == "optimal":
        Z = in_optimal_order(tree, Z, X)
    return lay_branches(Z, np.ones(len(Z), dtype=bool)).leaves


def merge_table(tree: Any) -> Floats:
    """The table of a model or a table itself, checked."""
    if hasattr(tree, "fit") and not hasattr(tree, "Z_"):
        raise ValueError(
            f"dendrogram: the {type(tree).__name__} has no merge table Z_; pass a fitted "
            "AgglomerativeClustering or the table of coterie.linkage."
        )
    given = getattr(tree, "Z_", tree)
    try:
        Z = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"dendrogram: a {type(tree).__name__} that holds no table of numbers was given; pass "
            "the merge table of coterie.linkage or a fitted AgglomerativeClustering."
        ) from error
    if Z.ndim != 2 or Z.shape[1] != 4 or len(Z) == 0:
        raise ValueError(
            f"dendrogram: the merge table has shape {Z.shape} and (n_rows - 1, 4) is needed; pass "
            "the table of coterie.linkage, not the rows."
        )
    if not np.isfinite(Z).all() or not hierarchy.is_valid_linkage(Z):
        raise ValueError(
            f"dendrogram: the table of shape {Z.shape} is no merge table (each cluster joined "
            "once and after it was made, at a finite height of at least 0); pass the table of "
            "coterie.linkage."
        )
    return Z


def in_optimal_order(tree: Any, Z: Floats, X: Any) -> Floats:
    """The same merges, with their parts swapped so that neighbouring leaves are near."""
    if X is None:
        raise ValueError(
            "dendrogram: order='optimal' compares rows and none were given; pass the rows or their "
            "condensed distances as X=, or use order='merges'."
        )
    metric = getattr(tree, "metric", "euclidean")
    given = np.asarray(X)
    if given.ndim == 2 and metric == "precomputed":
        lengths = squareform(given, checks=False)
    else:
        lengths = given if given.ndim == 1 else condensed(given, metric)
    n_pairs = len(Z) * (len(Z) + 1) // 2
    if lengths.shape != (n_pairs,):
        raise ValueError(
            f"dendrogram: X has shape {given.shape} and the tree has {len(Z) + 1} rows; pass the "
            f"rows of the tree or their {n_pairs} condensed distances."
        )
    return np.asarray(hierarchy.optimal_leaf_ordering(Z, np.asarray(lengths, dtype=np.float64)))
