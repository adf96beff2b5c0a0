"""A fitted vocabulary tree over rows that nobody has looked at yet: which leaf each reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.centroid._fitted import Fitted
from coterie.centroid._passes import sq_dists
from coterie.data import Block
from coterie.quantize._tree import Floats, Labels, Tree
from coterie.quantize._tree_level import go_down


@dataclass(frozen=True)
class FittedTree:
    """A tree, the centres of its leaves, whose it is, and how wide the beam is."""

    tree: Tree
    leaf_centers: Floats
    known: Fitted
    beam: int = 1


def find_leaf(block: Block, fitted: FittedTree, labels: Labels) -> None:
    """Fill in the nearest of the leaves that every row reaches."""
    go_down(block, fitted.tree, fitted.known.space(block), fitted.beam, labels)


def sse_at_leaves(block: Block, fitted: FittedTree) -> float:
    """Weighted sum of squared distances of the rows to the leaves they reach."""
    space = fitted.known.space(block)
    labels = np.empty(block.n_rows, dtype=np.int32)
    go_down(block, fitted.tree, space, fitted.beam, labels)
    return sq_dists(block, fitted.leaf_centers, space, labels)
