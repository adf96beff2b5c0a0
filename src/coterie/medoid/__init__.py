"""Clusters around real rows, for any distance."""

from coterie.medoid.kmedoids import KMedoids

__all__ = ["KMedoids"]
