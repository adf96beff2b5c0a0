"""Naive twins of the vocabulary tree: descent and beam written out, slow and plain."""

from __future__ import annotations

from typing import Any

import numpy as np

import twins


def children(starts: Any, node: int) -> list[int]:
    """The children of a node."""
    return list(range(int(starts[node]), int(starts[node + 1])))


def leaves_from_left(starts: Any) -> list[int]:
    """All leaves, each node's before those of the next: by recursion."""

    def below(node: int) -> list[int]:
        own = children(starts, node)
        return [leaf for child in own for leaf in below(child)] if own else [node]

    return below(0)


def greedy_leaf(x: Any, centers: Any, starts: Any) -> int:
    """The node of the leaf that a row reaches by its nearest child each time."""
    node = 0
    while own := children(starts, node):
        node = own[int(twins.nearest(x[np.newaxis], centers[own])[0])]
    return node


def beam_leaves(x: Any, centers: Any, starts: Any, width: int) -> list[int]:
    """The nodes of the leaves that a beam ends at, in the order of their places.

    Place i of a level goes to the nearest node not yet in it among the children of the first i.
    """
    dists = twins.sq_dists(x[np.newaxis], centers, twins.unit_scale(x, centers))[0]
    kept = [0]
    while any(children(starts, node) for node in kept):
        families = [children(starts, node) or [node] for node in kept]
        following: list[int] = []
        for place in range(width):
            known = [node for family in families[: place + 1] for node in family]
            free = [node for node in known if node not in following]
            if not free:
                break
            following.append(min(free, key=lambda node: (dists[node], node)))
        kept = following
    return kept
