"""Clusters around real rows, for any distance."""

from coterie.medoid.farthest import FarthestFirst, farthest_first
from coterie.medoid.kcenter import KCenter
from coterie.medoid.kmedoids import KMedoids
from coterie.medoid.leader import LeaderClustering

__all__ = ["FarthestFirst", "KCenter", "KMedoids", "LeaderClustering", "farthest_first"]
