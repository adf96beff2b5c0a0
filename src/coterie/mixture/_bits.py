"""Rows of zeros and ones kept as bits: read once, then a 32nd of the memory traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.data import ArraySource, Block, Source
from coterie.data.columns import column_words, first_odd

Bits = npt.NDArray[np.uint8]

#: Numbers packed in one go where the bits are not kept.
_TILE_NUMBERS = 1 << 22


@dataclass(frozen=True)
class Packed:
    """Dense rows in memory, and the same as bits."""

    rows: Any
    bits: Bits


def pack(rows: Any, n_threads: int) -> tuple[Bits, int]:
    """The rows as bits, eight columns a byte, and the first that holds not only 0 and 1, or -1."""
    bits = np.empty((rows.shape[0], -(-rows.shape[1] // 8)), dtype=np.uint8)
    return bits, kernels.pack_bits(rows, bits, n_threads)


def packed(who: str, blocks: Source, names: Sequence[str] | None = None) -> Packed | None:
    """The rows of a fit, checked and packed once; None where they are on disk or compressed."""
    if not isinstance(blocks, ArraySource) or blocks.sparse:
        for block in blocks:
            check_binary(who, block.rows, blocks.n_threads, names)
        return None
    bits, odd = pack(blocks.rows, blocks.n_threads)
    if odd >= 0:
        refuse_odd(who, blocks.rows, names)
    return Packed(blocks.rows, bits)


def bits_of(block: Block, known: Packed | None) -> Bits:
    """A block's rows as bits: those that are known already, or packed now."""
    if known is not None and known.rows is block.rows:
        return known.bits
    return pack(block.rows, block.n_threads)[0]


def check_binary(who: str, rows: Any, n_threads: int, names: Sequence[str] | None = None) -> None:
    """Refuse values other than 0 and 1."""
    if sp.issparse(rows) or not _only_bits(rows, n_threads):
        refuse_odd(who, rows, names)


def _only_bits(rows: Any, n_threads: int) -> bool:
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    return all(
        pack(np.asarray(rows[start : start + step]), n_threads)[1] < 0
        for start in range(0, rows.shape[0], step)
    )


def refuse_odd(who: str, rows: Any, names: Sequence[str] | None = None) -> None:
    """Name the first value that is neither 0 nor 1, if there is one."""
    found = first_odd(rows, lambda values: (values != 0) & (values != 1))
    if found is not None:
        value, where = found.value, f"row {found.row}, {column_words(names, found.column)}"
        raise ValueError(
            f"{who}: X must hold only 0 and 1, but {where} is {value:g}; set threshold= to count "
            "larger values as 1, or choose a mixture for other kinds of columns."
        )
