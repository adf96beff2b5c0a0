"""Where the branches of a dendrogram run, without drawing them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Branches(NamedTuple):
    """A bracket for each merge that is drawn, and what stands at the leaves.

    Leaf i stands at i. The four corners of a bracket are the foot of its first part, the two ends
    of its beam and the foot of the second part.
    """

    leaves: Ints  # the node at each leaf: a row, or a merge whose inside is not drawn
    merges: Ints  # which merges are drawn, (n_merges,)
    across: Floats  # along the leaves, (n_merges, 4)
    heights: Floats  # (n_merges, 4)


def lay_branches(Z: Floats, drawn: Flags) -> Branches:
    """Place the leaves from the root down, then the brackets from the leaves up.

    Merges come after their parts in the table, so two passes over it need no recursion. Time
    O(n_rows).

    Parameters
    ----------
    Z : array of shape (n_rows - 1, 4)
        Merge table; the first part of a merge is drawn first.
    drawn : array of shape (n_rows - 1,)
        Which merges are drawn; a merge inside one that is not drawn must not be.
    """
    n_rows = len(Z) + 1
    merges = np.flatnonzero(drawn)
    parts = Z[merges, :2].astype(np.int64)
    nodes, firsts, seconds = (merges + n_rows).tolist(), parts[:, 0].tolist(), parts[:, 1].tolist()

    n_leaves = [1] * (2 * n_rows - 1)
    for node, first, second in zip(nodes, firsts, seconds, strict=True):
        n_leaves[node] = n_leaves[first] + n_leaves[second]

    start = [-1] * (2 * n_rows - 1)  # the place of the first leaf below
    start[-1] = 0
    for node, first, second in zip(nodes[::-1], firsts[::-1], seconds[::-1], strict=True):
        start[first] = start[node]
        start[second] = start[node] + n_leaves[first]

    place = np.array(start, dtype=np.float64)
    top = np.zeros(2 * n_rows - 1)
    top[nodes] = Z[merges, 2]
    middle = place.tolist()
    for node, first, second in zip(nodes, firsts, seconds, strict=True):
        middle[node] = (middle[first] + middle[second]) / 2
    at = np.array(middle)

    is_leaf = place >= 0
    is_leaf[nodes] = False
    leaves = np.flatnonzero(is_leaf)
    leaves = leaves[np.argsort(place[leaves])]
    across = at[parts[:, [0, 0, 1, 1]]]
    heights = np.column_stack([top[parts[:, 0]], top[nodes], top[nodes], top[parts[:, 1]]])
    return Branches(leaves, merges, across, heights)


def draw_last(Z: Floats, n_leaves: int) -> Flags:
    """The merges that are drawn so that `n_leaves` leaves are left: the last ones."""
    return np.arange(len(Z)) > len(Z) - n_leaves


def draw_levels(Z: Floats, n_levels: int) -> Flags:
    """The merges at most `n_levels` below the root."""
    n_rows = len(Z) + 1
    level = [0] * (2 * n_rows - 1)
    parts = Z[:, :2].astype(np.int64).tolist()
    for node in range(2 * n_rows - 2, n_rows - 1, -1):
        for part in parts[node - n_rows]:
            level[part] = level[node] + 1
    return np.array(level[n_rows:]) <= n_levels


def draw_above(Z: Floats, height: float) -> Flags:
    """The merges at `height` and above, and those that lie over them where heights invert."""
    n_rows = len(Z) + 1
    drawn = [False] * n_rows + (Z[:, 2] >= height).tolist()
    for node, (first, second) in enumerate(Z[:, :2].astype(np.int64).tolist(), n_rows):
        drawn[node] = drawn[node] or drawn[first] or drawn[second]
    return np.array(drawn[n_rows:])


def shared_labels(Z: Floats, labels: npt.NDArray[Any]) -> Ints:
    """The label of every node whose rows all have the same, else -1; shape (2 n_rows - 1,)."""
    shared = np.asarray(labels, dtype=np.int64).tolist()
    for first, second in Z[:, :2].astype(np.int64).tolist():
        shared.append(shared[first] if shared[first] == shared[second] else -1)
    return np.array(shared, dtype=np.int64)
