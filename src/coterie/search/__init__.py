"""Nearest rows among many: indexes that are built once and asked often."""

from coterie.search.flat import FlatIndex
from coterie.search.pq import CertifiedNeighbors, PQIndex

__all__ = ["CertifiedNeighbors", "FlatIndex", "PQIndex"]
