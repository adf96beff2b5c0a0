"""Density clustering: clusters are where rows lie close together."""

from coterie.density.dbscan import DBSCAN, dbscan
from coterie.density.hdbscan import HDBSCAN

__all__ = ["DBSCAN", "HDBSCAN", "dbscan"]
