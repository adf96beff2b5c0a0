"""The merges of a tree as scikit-learn has them: which part is first, and whose parent is who."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.hierarchy._single import heads_first
from coterie.hierarchy.linkage import Linked

Ints = npt.NDArray[np.int64]

#: Metrics for which scikit-learn leaves single linkage to SciPy, where the lower part comes first.
_SORTED = ("cosine", "correlation", "sqeuclidean", "gower", "yule", "nan_euclidean")


def children_of(linked: Linked, metric: Any, *, connected: bool) -> Ints:
    """What each merge joins, (n_rows - 1, 2); merge i makes node n_rows + i."""
    children = linked.Z[:, :2].astype(np.int64)
    if linked.tree is None:
        return children
    if connected:
        return heads_first(linked.tree)
    if callable(metric) or metric in _SORTED:
        return children
    # Else by Prim's algorithm, and the part that it meets first comes first.
    return heads_first(linked.tree.from_first_row())


def parents_of(children: Ints, n_nodes: int) -> Ints:
    """The node that each of the first so many nodes is joined into; itself where there is none."""
    n_rows = len(children) + 1
    parents = np.arange(n_nodes)
    for node in range(n_rows, n_nodes):
        parents[children[node - n_rows]] = node
    return parents
