"""`ward_tree` and `linkage_tree`: the merges of a tree in scikit-learn's form."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import NONE, Rule, check_params, one_of, whole
from coterie.distance import Metric, RowFunction
from coterie.errors import AdviceWarning
from coterie.hierarchy._children import children_of, parents_of
from coterie.hierarchy._table_function import takes_a_table
from coterie.hierarchy.linkage import link, warn_of_square

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
#: Children, number of connected components, number of leaves, parents; and distances if asked for.
Tree = tuple[Ints, int, int, Ints | None] | tuple[Ints, int, int, Ints | None, Floats]

_RULES: dict[str, Rule] = {
    "n_clusters": NONE | whole(1),
    "linkage": one_of("complete", "average", "single", "weighted"),
}


def ward_tree(
    X: Any,
    *,
    connectivity: Any = None,
    n_clusters: int | None = None,
    return_distance: bool = False,
) -> Tree:
    """The merges of Ward's linkage; drop-in for `sklearn.cluster.ward_tree`.

    See `coterie.linkage` for time and memory, and for a table that SciPy's functions take.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), or of one dimension: rows of one column
    connectivity : array or sparse matrix of shape (n_rows, n_rows), default=None
        Which rows may be joined.
    n_clusters : int or None, default=None
        With `connectivity`: leave out the merges above so many clusters.
    return_distance : bool, default=False
        Whether to return the heights of the merges as well.

    Returns
    -------
    children : int64 array of shape (n_merges, 2)
        What each merge joins; merge i makes node n_rows + i.
    n_connected_components : int
    n_leaves : int
    parents : int64 array of shape (n_nodes,), or None without `connectivity`
        The node that each is joined into; itself for those that are left.
    distances : float64 array of shape (n_merges,)
        Only with ``return_distance=True``.

    Examples
    --------
    >>> import coterie
    >>> children, *_ = coterie.ward_tree([[0.0], [1], [5]])
    >>> children
    array([[0, 1],
           [2, 3]])
    """
    X = np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X
    check_params("ward_tree", {"n_clusters": n_clusters}, {"n_clusters": _RULES["n_clusters"]})
    return _tree("ward_tree", X, "ward", "euclidean", connectivity, n_clusters, return_distance)


def linkage_tree(
    X: Any,
    connectivity: Any = None,
    n_clusters: int | None = None,
    linkage: str = "complete",
    affinity: str | RowFunction | Metric = "euclidean",
    return_distance: bool = False,
) -> Tree:
    """The merges of a linkage by distances; drop-in for `sklearn.cluster.linkage_tree`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), or square distances
    connectivity, n_clusters, return_distance
        See `ward_tree`.
    linkage : {"complete", "average", "single", "weighted"}
    affinity : name in `coterie.distance.METRICS`, ``"precomputed"`` or callable
        A function of two rows; or, without `connectivity`, of a table: then it returns the
        distances of all pairs, as in scikit-learn.

    Returns
    -------
    children, n_connected_components, n_leaves, parents[, distances]
        See `ward_tree`.
    """
    check_params("linkage_tree", {"n_clusters": n_clusters, "linkage": linkage}, _RULES)
    X = np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X
    if connectivity is None and takes_a_table(affinity, {}):
        assert callable(affinity)
        # As in scikit-learn, a function of the whole table, not of two rows.
        X, affinity = affinity(X), "precomputed"  # type: ignore[call-arg]
    return _tree("linkage_tree", X, linkage, affinity, connectivity, n_clusters, return_distance)


def _tree(
    who: str,
    X: Any,
    method: str,
    metric: Any,
    connectivity: Any,
    n_clusters: int | None,
    return_distance: bool,
) -> Tree:
    """Link, and put the merges into scikit-learn's form."""
    warn_of_square(who, X, metric, stacklevel=4)
    linked = link(
        X, method, metric, connectivity=connectivity, compress=None, random_state=None,
        n_threads=None, who=who,
    )  # fmt: skip
    n_rows = len(linked.Z) + 1
    connected = connectivity is not None
    children, parents = children_of(linked, metric, connected=connected), None
    n_kept = len(children)
    if n_clusters is not None and n_clusters > n_rows:
        raise ValueError(
            f"{who}: n_clusters={n_clusters} was given and X has {n_rows} rows; lower n_clusters."
        )
    if n_clusters is not None and not connected:
        warnings.warn(
            f"{who}: n_clusters={n_clusters} leaves merges out only with connectivity=, and none "
            "was given; the tree is whole.",
            AdviceWarning,
            stacklevel=3,
        )
    if connected:
        n_nodes = 2 * n_rows - (n_clusters or 1)
        parents = parents_of(children, n_nodes)
        if method != "single":  # of which scikit-learn keeps all merges
            n_kept = n_nodes - n_rows
    found = children[:n_kept], linked.n_connected_components, n_rows, parents
    return (*found, linked.Z[:n_kept, 2].copy()) if return_distance else found
