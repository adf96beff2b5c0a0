"""Rows of zeros and ones kept as bits: read once, then a 32nd of the memory traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import Block, Blocks

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Packed:
    """Dense rows in memory, and the same as bits."""

    rows: Any
    bits: Bits


def pack(rows: Any, n_threads: int) -> tuple[Bits, int]:
    """The rows as bits, eight columns a byte, and the first that holds not only 0 and 1 or -1."""
    bits = np.empty((rows.shape[0], -(-rows.shape[1] // 8)), dtype=np.uint8)
    return bits, kernels.pack_bits(rows, bits, n_threads)


def packed(blocks: Blocks) -> Packed | None:
    """The rows of a fit packed once; None where they are on disk or compressed."""
    if not blocks.in_memory or blocks.sparse:
        return None
    return Packed(blocks.rows, pack(blocks.rows, blocks.n_threads)[0])


def bits_of(block: Block, known: Packed | None) -> Bits:
    """A block's rows as bits: those that are known already, or packed now."""
    if known is not None and known.rows is block.rows:
        return known.bits
    return pack(block.rows, block.n_threads)[0]
