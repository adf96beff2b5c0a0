"""Figures drawn from results: labels, centres, histories, curves, trees, graphs.

Needs `coterie[plot]`. Each function takes the axes to draw into as `ax=` and returns them.
"""

from coterie.plots.center_images import center_images
from coterie.plots.codebook import codebook
from coterie.plots.condensed_tree import condensed_tree
from coterie.plots.dendrogram import dendrogram, save_dendrogram
from coterie.plots.density import density
from coterie.plots.descent import descent
from coterie.plots.film import animate, save_film
from coterie.plots.free_energy import free_energy
from coterie.plots.graph import graph
from coterie.plots.heat_map import heat_map
from coterie.plots.k_curves import k_curves
from coterie.plots.k_distances import k_distances, save_k_distances
from coterie.plots.likelihood_surface import likelihood_surface
from coterie.plots.memberships import memberships
from coterie.plots.mixture_curves import mixture_curves
from coterie.plots.point_kinds import point_kinds
from coterie.plots.reachability import reachability
from coterie.plots.responsibilities import responsibilities
from coterie.plots.scatter import save_scatter, scatter
from coterie.plots.silhouettes import silhouettes
from coterie.plots.stages import stages
from coterie.plots.traces import traces
from coterie.plots.vat import vat
from coterie.plots.vocabulary_tree import vocabulary_tree

__all__ = [
    "animate", "center_images", "codebook", "condensed_tree", "dendrogram", "density", "descent",
    "free_energy", "graph", "heat_map", "k_curves", "k_distances", "likelihood_surface",
    "memberships", "mixture_curves", "point_kinds", "reachability", "responsibilities",
    "save_dendrogram", "save_film", "save_k_distances", "save_scatter", "scatter", "silhouettes",
    "stages", "traces", "vat", "vocabulary_tree",
]  # fmt: skip
