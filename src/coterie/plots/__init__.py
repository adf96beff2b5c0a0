"""Figures drawn from results: labels, centres, histories, curves. Needs `coterie[plot]`."""

from coterie.plots.descent import descent
from coterie.plots.k_distances import k_distances
from coterie.plots.scatter import save_scatter, scatter

__all__ = ["descent", "k_distances", "save_scatter", "scatter"]
