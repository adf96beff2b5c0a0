"""Clusters around centres: k-means and its kin."""

from coterie.centroid.bisecting import BisectingKMeans
from coterie.centroid.function import k_means
from coterie.centroid.kmeans import KMeans
from coterie.centroid.minibatch import MiniBatchKMeans
from coterie.centroid.seeding import kmeans_plusplus

__all__ = ["BisectingKMeans", "KMeans", "MiniBatchKMeans", "k_means", "kmeans_plusplus"]
