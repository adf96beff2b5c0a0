"""Neighbours of rows: the nearest, those within a radius, and the spanning tree."""

from coterie.neighbors.index import Index
from coterie.neighbors.merge_tree import MergeTree, merge_tree
from coterie.neighbors.search import count_within, knn, kth_distances, spanning_tree, within
from coterie.neighbors.spanning import SpanningTree

__all__ = [
    "Index",
    "MergeTree",
    "SpanningTree",
    "count_within",
    "knn",
    "kth_distances",
    "merge_tree",
    "spanning_tree",
    "within",
]
