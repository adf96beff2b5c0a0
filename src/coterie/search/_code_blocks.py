"""Codes as the kernels scan them: blocks of 64 rows, in which the bytes of a part are adjacent.

Codes of 4 bits lie two a byte, the first of a pair in the lower half.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

#: Rows of a block, as in `cpp/include/coterie/search/codes.hpp`.
BLOCK_ROWS = 64


def n_bytes(n_parts: int, bits: int) -> int:
    """Bytes of one row's codes."""
    return n_parts if bits == 8 else (n_parts + 1) // 2


def as_bytes(codes: Bytes, bits: int) -> Bytes:
    """The bytes of codes of shape (n_rows, n_parts)."""
    if bits == 8:
        return codes
    packed = codes[:, ::2].copy()
    packed[:, : codes.shape[1] // 2] |= codes[:, 1::2] << 4
    return packed


def to_blocks(rows: Bytes) -> Bytes:
    """Rows of bytes as blocks, (n_blocks, n_bytes, 64); the last is filled up with zeros."""
    n_rows, width = rows.shape
    n_blocks = -(-n_rows // BLOCK_ROWS)
    padded = np.zeros((n_blocks * BLOCK_ROWS, width), dtype=np.uint8)
    padded[:n_rows] = rows
    return np.ascontiguousarray(padded.reshape(n_blocks, BLOCK_ROWS, width).transpose(0, 2, 1))


def from_blocks(blocks: Bytes, n_rows: int) -> Bytes:
    """The first `n_rows` rows of bytes of these blocks."""
    return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:n_rows]
