"""Neighbours of rows: the nearest, those within a radius, and the spanning tree."""

from coterie.neighbors.merge_tree import MergeTree, merge_tree
from coterie.neighbors.search import count_within, knn, kth_distances, within
from coterie.neighbors.spanning_tree import SpanningTree, spanning_tree

__all__ = [
    "MergeTree",
    "SpanningTree",
    "count_within",
    "knn",
    "kth_distances",
    "merge_tree",
    "spanning_tree",
    "within",
]
