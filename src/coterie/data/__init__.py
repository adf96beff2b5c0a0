"""Where rows come from: one interface, Blocks, over arrays and files."""

from coterie.data.blocks import Block, Blocks, as_blocks

__all__ = ["Block", "Blocks", "as_blocks"]
