"""Figures drawn from results: labels, centres, histories, trees. Needs `coterie[plot]`."""

from coterie.plots.dendrogram import dendrogram, save_dendrogram
from coterie.plots.descent import descent
from coterie.plots.scatter import save_scatter, scatter

__all__ = ["dendrogram", "descent", "save_dendrogram", "save_scatter", "scatter"]
