"""Nearest rows among many: indexes that are built once and asked often."""

from coterie.search.files import load
from coterie.search.flat import FlatIndex
from coterie.search.ivf import IVFPQIndex
from coterie.search.pq import CertifiedNeighbors, PQIndex
from coterie.search.transformer import NeighborsTransformer

__all__ = [
    "CertifiedNeighbors",
    "FlatIndex",
    "IVFPQIndex",
    "NeighborsTransformer",
    "PQIndex",
    "load",
]
