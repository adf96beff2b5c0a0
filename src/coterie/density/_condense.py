"""The condensed tree of HDBSCAN: which clusters there are at some density, and when rows leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.neighbors import MergeTree, SpanningTree, merge_tree

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CondensedTree:
    """Clusters that are born, lose rows, and split or die as the density rises.

    Density is lambda = 1 / height. Cluster 0 holds all rows, and parents come before their
    children. Of each row there is the cluster it falls from and the lambda at which it does; of
    each cluster its parent (-1 for the first), its rows at birth, the lambdas of its birth and of
    its death (when the last rows fall or its children are born), the last death among it and its
    descendants (`peak`), and its stability: the lambdas at which rows leave less its birth, summed.
    """

    row_cluster: Ints
    row_lambda: Floats
    parent: Ints
    size: Ints
    birth: Floats
    death: Floats
    peak: Floats
    stability: Floats


def find_levels(lengths: Floats) -> Floats:
    """The height of each of these sorted lengths, equal where they differ by rounding alone.

    A level begins with a length and holds all up to 1e-12, relatively, above it; its height is the
    longest of them. Which lengths the edges of a spanning tree have does not depend on the order
    of rows, so levels do not either.
    """
    heights = np.empty(lengths.size)
    kernels.find_levels(lengths, heights)
    return heights


def single_linkage(tree: SpanningTree) -> MergeTree:
    """Merges of the tree's edges; left is the side that Prim's algorithm reaches first from row 0.

    So clusters are numbered as by scikit-learn, whose tree is Prim's. Heights are those of levels.
    """
    hung = tree.from_first_row()
    return merge_tree(hung.heads, hung.tails, find_levels(tree.lengths))


def condense(merges: MergeTree, min_cluster_size: int) -> CondensedTree:
    """Read single linkage from the top, where parts of less than `min_cluster_size` rows fall off.

    Campello, Moulavi and Sander (2013). Merges of equal height happen at once: what they join
    parts into all its pieces, and those of enough rows are clusters where there are two or more.
    So the tree does not depend on the order in which equal merges are listed. Time O(n); 13 bytes
    per row.

    Parameters
    ----------
    merges
        Single linkage of at least two rows.
    min_cluster_size
        A split makes clusters when two or more of its parts have so many rows.
    """
    n_rows = merges.left.size + 1
    most = max(1, 2 * (n_rows // min_cluster_size) - 1)  # clusters there can be
    row_cluster, row_lambda = np.empty(n_rows, dtype=np.int32), np.empty(n_rows)
    parent, size = (np.empty(most, dtype=np.int32) for _ in range(2))
    birth, death, peak, stability = (np.empty(most) for _ in range(4))
    n_clusters = kernels.condense(
        merges.left, merges.right, merges.height, merges.size, min(min_cluster_size, n_rows + 1),
        row_cluster, row_lambda, parent, size, birth, death, peak, stability,
    )  # fmt: skip
    some = slice(n_clusters)
    return CondensedTree(
        row_cluster, row_lambda, parent[some].copy(), size[some].copy(), birth[some].copy(),
        death[some].copy(), peak[some].copy(), stability[some].copy(),
    )  # fmt: skip


def outlier_scores(tree: CondensedTree) -> Floats:
    """GLOSH (Campello et al. 2015): how much less dense a row is than the densest of its cluster.

    1 - lambda / peak, with the lambda at which the row leaves its cluster: from 0 to 1.
    """
    peak = tree.peak[tree.row_cluster]
    with np.errstate(invalid="ignore"):
        scores = 1 - tree.row_lambda / peak
    scores[np.isinf(tree.row_lambda) | (peak == 0)] = 0.0
    return scores
