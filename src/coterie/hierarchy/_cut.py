"""Cutting a tree of merges into clusters."""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels

Ints = npt.NDArray[np.int64]


def cut_tree(children: npt.NDArray[Any], n_clusters: int) -> Ints:
    """Labels of the clusters left when the last n_clusters - 1 merges are undone.

    Numbered as scikit-learn does: a heap holds the heads of the clusters, the latest merge first;
    undoing it puts its two parts in. Labels are places in the heap.

    Parameters
    ----------
    children : array of shape (n_rows - 1, 2)
        What each merge joins; merge i makes node n_rows + i.
    """
    n_rows = len(children) + 1
    heads = [-(2 * n_rows - 2)]
    for _ in range(n_clusters - 1):
        first, second = children[-heads[0] - n_rows]
        heappush(heads, -int(first))
        heappushpop(heads, -int(second))
    return label_heads(children, -np.array(heads))


def cut_early(children: npt.NDArray[Any], n_clusters: int) -> Ints:
    """The same clusters numbered by their heads: as scikit-learn does where it stops early."""
    return label_heads(children, find_heads(children, n_clusters))


def label_heads(children: npt.NDArray[Any], heads: npt.NDArray[Any]) -> Ints:
    """Label every row by the place in `heads` of the node it is below."""
    n_rows = len(children) + 1
    labels = np.full(2 * n_rows - 1, -1, dtype=np.int64)
    labels[heads] = np.arange(len(heads))
    kernels.hand_labels_down(np.ascontiguousarray(children, dtype=np.int64), labels)
    return labels[:n_rows].copy()


def count_at_height(heights: npt.NDArray[Any], height: float) -> int:
    """How many clusters there are when merges at `height` and above are undone."""
    return int(np.count_nonzero(heights >= height)) + 1


def halving_weights(children: npt.NDArray[Any], heads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The share of every row in its cluster, where a union is half one part and half the other."""
    n_rows = len(children) + 1
    share = np.zeros(2 * n_rows - 1)
    share[heads] = 1
    for node in range(int(heads.max()), n_rows - 1, -1):
        if share[node] > 0:
            share[children[node - n_rows]] = share[node] / 2
    return share[:n_rows]


def find_heads(children: npt.NDArray[Any], n_clusters: int) -> Ints:
    """The nodes whose clusters are left when the last n_clusters - 1 merges are undone."""
    n_rows = len(children) + 1
    left = np.ones(2 * n_rows - n_clusters, dtype=bool)
    left[children[: n_rows - n_clusters]] = False
    return np.flatnonzero(left)
