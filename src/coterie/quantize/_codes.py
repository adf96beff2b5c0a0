"""Codes: whole numbers in the smallest type that holds them, and the passes that make them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._fitted import Fitted, label_any
from coterie.data import Block


def smallest_unsigned(n_values: int) -> np.dtype[Any]:
    """The smallest type that holds 0 to `n_values` - 1."""
    return np.min_scalar_type(max(n_values - 1, 0))


def bits_for(n_codewords: int) -> int:
    """Bits of a code of fixed length: ceil(log2 k)."""
    return (n_codewords - 1).bit_length()


def encode_any(block: Block, fitted: Fitted, codes: npt.NDArray[Any]) -> None:
    """Fill in the number of the codeword nearest to each row."""
    labels = np.empty(block.n_rows, dtype=np.int32)
    label_any(block, fitted, labels)
    codes[...] = labels


def check_codes(who: str, codes: Any, n_codewords: int) -> npt.NDArray[np.integer[Any]]:
    """Codes as an array of whole numbers, each of which has a codeword."""
    numbers = np.asarray(codes)
    if numbers.size == 0 and numbers.dtype.kind == "f":
        numbers = numbers.astype(np.intp)  # an empty list
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: codes are of type {numbers.dtype}; pass whole numbers, as encode makes them."
        )
    if numbers.size and (numbers.min() < 0 or numbers.max() >= n_codewords):
        raise ValueError(
            f"{who}: codes reach from {numbers.min()} to {numbers.max()}, and the codebook has "
            f"{n_codewords} codewords; pass codes of this codebook."
        )
    return numbers
