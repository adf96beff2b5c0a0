"""Clusters around centres: k-means and its kin."""

from coterie.centroid.kmeans import KMeans

__all__ = ["KMeans"]
