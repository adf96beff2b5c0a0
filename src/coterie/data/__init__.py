"""Where rows come from: one interface, Source, over arrays, files, databases and clusters."""

from coterie.data.array import ArraySource
from coterie.data.opened import as_source
from coterie.data.source import Block, RowsByNumber, Source

__all__ = ["ArraySource", "Block", "RowsByNumber", "Source", "as_source"]
