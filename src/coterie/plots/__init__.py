"""Figures drawn from results: labels, centres, histories, curves, trees, graphs.

Needs `coterie[plot]`.
"""

from coterie.plots.dendrogram import dendrogram, save_dendrogram
from coterie.plots.descent import descent
from coterie.plots.graph import graph
from coterie.plots.k_distances import k_distances
from coterie.plots.scatter import save_scatter, scatter
from coterie.plots.stages import stages
from coterie.plots.vocabulary_tree import vocabulary_tree

__all__ = [
    "dendrogram", "descent", "graph", "k_distances", "save_dendrogram", "save_scatter", "scatter",
    "stages", "vocabulary_tree",
]  # fmt: skip
