"""Figures drawn from results: labels, centres, histories. Needs `coterie[plot]`."""

from coterie.plots.descent import descent
from coterie.plots.scatter import save_scatter, scatter

__all__ = ["descent", "save_scatter", "scatter"]
