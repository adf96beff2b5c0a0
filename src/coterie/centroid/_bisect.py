"""Bisecting k-means: split one cluster in two, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._fitted import Fitted
from coterie.centroid._passes import label_rows
from coterie.centroid._shares import Share, Split
from coterie.centroid._space import Space
from coterie.data import Block, Source

Labels = npt.NDArray[np.int32]


@dataclass
class Node:
    """A cluster: its centre and SSE, its rows while it is a leaf, its halves once it was split."""

    center: npt.NDArray[Any]
    inertia: float
    share: Share
    halves: tuple[Node, Node] | None = None
    #: Whether a split was tried in vain.
    whole: bool = False


#: What decides which cluster is split next: the one that has most of it, the leftmost on ties.
STRATEGIES: dict[str, Callable[[Node], float]] = {
    "biggest_inertia": lambda node: node.inertia,
    "largest_cluster": lambda node: node.share.n_rows,
}


def bisect(
    blocks: Source,
    root: Node,
    n_clusters: int,
    *,
    two_means: Callable[[Source], Split | None],
    strategy: Callable[[Node], float],
    recorder: Recorder,
) -> list[Node]:
    """Split clusters in two by 2-means until there are `n_clusters`.

    Steinbach, Karypis and Kumar (2000). A split costs a few passes over the rows of the cluster,
    which are gathered once: memory is that of the largest cluster but the first, and 8 bytes per
    row. Rows that are not in memory are not gathered, but all of them read by every such pass.

    Parameters
    ----------
    blocks
        The rows.
    root
        The cluster of all rows; the tree grows below it.
    n_clusters
        When to stop.
    two_means
        Clusters some rows in two; None where they cannot be told apart.
    strategy
        One of `STRATEGIES`.
    recorder
        Is told of every split, of clusters that cannot be split, and may ask to stop.

    Returns
    -------
    list of Node
        The clusters that were not split further, from left to right; fewer than `n_clusters`
        where none can be split.
    """
    leaves = [root]
    while len(leaves) < n_clusters and not recorder.stopped:
        candidates = [at for at, leaf in enumerate(leaves) if not leaf.whole]
        if not candidates:
            recorder.event(
                "fewer clusters",
                f"no cluster can be split further: {len(leaves)} of {n_clusters} were made",
            )
            break
        at = max(candidates, key=lambda at: strategy(leaves[at]))
        leaf = leaves[at]
        split = two_means(leaf.share.of(blocks))
        if split is None:
            leaf.whole = True
            continue
        left, right = (
            Node(split.centers[half], split.inertias[half], share)
            for half, share in enumerate(leaf.share.halves(split))
        )
        leaf.halves = (left, right)
        leaves[at : at + 1] = [left, right]
        recorder.iteration(
            np.array([node.center for node in leaves], dtype=np.float64),
            iteration=len(leaves) - 1,
            objective_update=float(sum(node.inertia for node in leaves)),
            n_scanned=leaf.share.n_rows,
        )
    return leaves


@dataclass(frozen=True)
class Tree:
    """The splits as arrays.

    Attributes
    ----------
    centers
        Of every node, shape (n_nodes, n_features); node 0 is the cluster of all rows.
    children
        The two halves of every node, shape (n_nodes, 2); (-1, -1) for a leaf. A node comes before
        its halves, and leaves come in the order of their labels.
    """

    centers: npt.NDArray[Any]
    children: Labels


def as_tree(root: Node) -> Tree:
    """Number the nodes, each left half with all below it before the right one."""
    centers: list[npt.NDArray[Any]] = []
    children: list[list[int]] = []
    # A node, and where its number is to be written.
    waiting: list[tuple[Node, int, int]] = [(root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if parent >= 0:
            children[parent][side] = len(centers)
        if node.halves is not None:
            waiting += [(node.halves[side], len(centers), side) for side in (1, 0)]
        centers.append(node.center)
        children.append([-1, -1])
    return Tree(np.array(centers), np.array(children, dtype=np.int32))


def walk_down(block: Block, fitted: Fitted, tree: Tree, labels: Labels) -> None:
    """Fill in the leaf that every row reaches by going to the nearer half; ties go left.

    Time O(n_rows * depth * n_features), memory the rows of the larger half.
    """
    walk_in(block, fitted.space(block), tree, labels)


def walk_in(block: Block, space: Space, tree: Tree, labels: Labels) -> None:
    """The same in coordinates that are known."""
    is_leaf = tree.children[:, 0] < 0
    leaf_numbers = np.cumsum(is_leaf) - 1
    waiting = [(0, np.arange(block.n_rows))]
    while waiting:
        node, row_ids = waiting.pop()
        if is_leaf[node]:
            labels[row_ids] = leaf_numbers[node]
        elif row_ids.size:
            halves = tree.children[node]
            centers = tree.centers[halves].astype(np.float64)
            rows = block.rows if row_ids.size == block.n_rows else block.rows[row_ids]
            nearer = np.empty(row_ids.size, dtype=np.int32)
            label_rows(Block(rows, None, 0, block.n_threads), centers, space, nearer)
            waiting += [(int(halves[side]), row_ids[nearer == side]) for side in (0, 1)]
