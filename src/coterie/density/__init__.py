"""Density clustering: clusters are where rows lie close together."""

from coterie.density.dbscan import DBSCAN

__all__ = ["DBSCAN"]
