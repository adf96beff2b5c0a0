"""The minimum spanning tree of rows, by distance or by mutual reachability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie.distance import Metric, RowFunction, as_metric
from coterie.neighbors.kdtree import choose_tree

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SpanningTree:
    """Edges of a spanning tree, shortest first; equal ones by head, then by tail.

    `heads` and `tails` (int32) are the rows an edge joins, head < tail, and `lengths` (float64)
    its length; each has one entry less than there are rows.
    """

    heads: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]
    lengths: Floats


def spanning_tree(
    X: Any,
    core_distances: Any = None,
    *,
    metric: str | RowFunction | Metric = "euclidean",
    method: str = "auto",
    n_threads: int | None = None,
    **metric_params: Any,
) -> SpanningTree:
    """The spanning tree of least total length over the rows of X.

    The edge between rows i and j is as long as their distance or, with core distances, as their
    mutual reachability max(d(i, j), core i, core j). Edges are compared by (length, lower row,
    higher row), so there is exactly one least tree, also among ties: the result depends neither on
    the algorithm nor on the threads.

    Boruvka's algorithm over a kd-tree in few columns, Prim's in many columns and for metrics that
    have no boxes: O(n^2 d) time at most. Memory O(n): the rows once more and some 50 bytes a row.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    core_distances : array of shape (n_rows,) or None
    metric : name in `coterie.distance.METRICS` or callable
        A callable is called for every pair, which is slow.
    method : {"auto", "kdtree", "brute"}
    n_threads : int or None

    Returns
    -------
    SpanningTree
    """
    who = "spanning_tree"
    found = as_metric(metric, X, who=who, **metric_params)
    return least_tree(who, X, found, core_distances, method, n_threads)


def least_tree(
    who: str,
    X: Any,
    found: Metric,
    core_distances: Any = None,
    method: str = "auto",
    n_threads: int | None = None,
) -> SpanningTree:
    """`spanning_tree` on behalf of `who`."""
    rows = found.prepare(X)
    cores = _check_cores(core_distances, rows.shape[0])
    if found.native is None:
        return prim(rows.shape[0], lambda i: found.lengths(rows[i : i + 1], rows)[0], cores)
    n_edges = rows.shape[0] - 1
    tree = SpanningTree(
        np.empty(n_edges, dtype=np.int32), np.empty(n_edges, dtype=np.int32), np.empty(n_edges)
    )
    by_tree = choose_tree(who, found, method, *rows.shape)
    kernels.spanning_tree(
        rows, found.native, by_tree, cores, tree.heads, tree.tails, tree.lengths,
        resolve_n_threads(n_threads, who),
    )  # fmt: skip
    if found.name != "gower" and (cores is None or np.isfinite(cores).all()):
        _check_lengths(who, found.name, tree.lengths)
    return tree


def _check_lengths(who: str, metric: str, lengths: Floats) -> None:
    """Refuse lengths beyond what a float64 holds; sorted, so that the last one tells."""
    if lengths.size and not np.isfinite(lengths[-1]):
        raise ValueError(
            f"{who}: the {metric} distances between some rows of X overflow float64; scale "
            "the rows down, for example X / np.abs(X).max()."
        )


def _check_cores(core_distances: Any, n_rows: int) -> Floats | None:
    if core_distances is None:
        return None
    cores = np.ascontiguousarray(core_distances, dtype=np.float64)
    if cores.shape != (n_rows,) or not (cores >= 0).all():
        raise ValueError(
            f"spanning_tree: core_distances have shape {cores.shape} and X has {n_rows} rows; pass "
            "one distance of zero or more a row."
        )
    return cores


def prim(
    n_rows: int, lengths_from: Callable[[int], Floats], cores: Floats | None = None
) -> SpanningTree:
    """Prim's algorithm over any table of distances, asked for one row at a time.

    Parameters
    ----------
    n_rows
        How many rows the tree spans.
    lengths_from
        Gives the distances of a row to all rows, shape (n_rows,).
    cores
        Core distances of the rows, or None.
    """
    rows = np.arange(n_rows)
    is_outside = np.ones(n_rows, dtype=bool)
    length = np.full(n_rows, np.inf)
    parent = np.full(n_rows, n_rows)
    edges = np.empty(max(0, n_rows - 1), dtype=[("length", "f8"), ("head", "i4"), ("tail", "i4")])
    taken = 0
    for edge in edges:
        is_outside[taken] = False
        offered = lengths_from(taken)
        if cores is not None:
            offered = np.maximum(np.maximum(offered, cores[taken]), cores)
        better = is_outside & _is_less(offered, taken, length, parent, rows)
        length[better], parent[better] = offered[better], taken
        candidates = np.flatnonzero(is_outside & (length == length[is_outside].min()))
        low = np.minimum(parent[candidates], candidates)
        high = np.maximum(parent[candidates], candidates)
        at = np.lexsort((high, low))[0]
        taken = int(candidates[at])
        edge["length"], edge["head"], edge["tail"] = length[taken], low[at], high[at]
    edges.sort(order=["length", "head", "tail"])
    heads, tails = (np.ascontiguousarray(edges[end]) for end in ("head", "tail"))
    return SpanningTree(heads, tails, np.ascontiguousarray(edges["length"]))


def _is_less(
    length: Floats, end: int, than: Floats, other_end: npt.NDArray[Any], rows: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Whether the edges from rows to `end` come before those to `other_end`."""
    new = np.minimum(end, rows), np.maximum(end, rows)
    old = np.minimum(other_end, rows), np.maximum(other_end, rows)
    earlier = (new[0] < old[0]) | ((new[0] == old[0]) & (new[1] < old[1]))
    return np.asarray((length < than) | ((length == than) & earlier))
