"""Single linkage: the merges that a spanning tree's edges make, shortest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MergeTree:
    """Merge i makes cluster n + i of the n rows, which are the clusters 0 .. n - 1.

    It joins the clusters `left` and `right` (int32) at `height` (float64, never falling) to one of
    `size` rows (int32); each array has one entry less than there are rows.
    """

    left: Ints
    right: Ints
    height: Floats
    size: Ints


def merge_tree(heads: Ints, tails: Ints, lengths: Floats) -> MergeTree:
    """The merges of edges that come sorted by length; `left` has the head, `right` the tail.

    The columns of SciPy's table are the lesser and the greater of left and right, height and size.
    Time O(n log n) at most, memory 8 bytes per row beside the result.

    Parameters
    ----------
    heads, tails, lengths : arrays of shape (n_rows - 1,)
        The edges of a tree, as a `SpanningTree` has them.
    """
    left, right, size = (np.empty(lengths.size, dtype=np.int32) for _ in range(3))
    kernels.merge_tree(heads, tails, left, right, size)
    return MergeTree(left, right, lengths, size)
