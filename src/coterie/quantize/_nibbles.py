"""Two codes of four bits in a byte."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def pack_nibbles(codes: Bytes) -> Bytes:
    """Codes below 16, two a byte: the first of a pair in the low four bits.

    Shape (n, m) becomes (n, ceil(m / 2)); the last high bits are zero where m is odd.
    """
    packed = codes[:, ::2].copy()
    packed[:, : codes.shape[1] // 2] |= codes[:, 1::2] << 4
    return packed


def unpack_nibbles(packed: Bytes, n_codes: int) -> Bytes:
    """The codes that were packed, `n_codes` of them per row."""
    codes = np.empty((packed.shape[0], n_codes), dtype=np.uint8)
    codes[:, ::2] = packed & 15
    codes[:, 1::2] = packed[:, : n_codes // 2] >> 4
    return codes
