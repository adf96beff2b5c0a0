"""Rows of zeros and ones kept as bits: read once, then a 32nd of the memory traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.data import ArraySource, Block, Source
from coterie.data.columns import Cell, first_odd
from coterie.mixture._values import Oddities, Values

Bits = npt.NDArray[np.uint8]

#: Numbers packed in one go where the bits are not kept.
_TILE_NUMBERS = 1 << 22


@dataclass(frozen=True)
class Packed:
    """Dense rows in memory, and the same as bits."""

    rows: Any
    bits: Bits

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere there is nothing of it: rows there are others, and are packed as they come."""
        return type(None), ()


def pack(rows: Any, n_threads: int) -> tuple[Bits, int]:
    """The rows as bits, eight columns a byte, and the first that holds not only 0 and 1, or -1."""
    bits = np.empty((rows.shape[0], -(-rows.shape[1] // 8)), dtype=np.uint8)
    return bits, kernels.pack_bits(rows, bits, n_threads)


def bits_of(block: Block, known: Packed | None) -> Bits:
    """A block's rows as bits: those that are known already, or packed now."""
    if known is not None and known.rows is block.rows:
        return known.bits
    return pack(block.rows, block.n_threads)[0]


@dataclass(frozen=True)
class Binary(Values):
    """Numbers that are 0 and 1: others are refused."""

    _n_others = 1

    def all(self, source: Source) -> tuple[Source, bool]:
        if isinstance(source, ArraySource) and not source.sparse:
            return Values(self.who, self.names).all(source)  # `packed` tells the rest
        return super().all(source)

    def _others(self, block: Block) -> tuple[Cell | None, ...]:
        if not sp.issparse(block.rows) and _only_bits(block.rows, block.n_threads):
            return (None,)
        return (_first_not_binary(block.rows),)

    def _refuse(self, found: Oddities) -> None:
        super()._refuse(found)
        odd = found.first[2] if len(found.first) > 2 else None
        if odd is not None:
            raise ValueError(
                f"{self.who}: X must hold only 0 and 1, but {self._where(odd)} is {odd.value:g}; "
                "set threshold= to count larger values as 1, or choose a mixture for other kinds "
                "of columns."
            )

    def packed(self, source: Source) -> Packed | None:
        """The rows of a fit, packed once and checked by that; None where they are not in memory, or
        compressed, and checked before.
        """
        if not isinstance(source, ArraySource) or source.sparse:
            return None
        bits, odd = pack(source.rows, source.n_threads)
        if odd >= 0:
            self._refuse(Oddities(False, (None, None, _first_not_binary(source.rows))))
        return Packed(source.rows, bits)


def _only_bits(rows: Any, n_threads: int) -> bool:
    step = max(1, _TILE_NUMBERS // rows.shape[1])
    return all(
        pack(np.asarray(rows[start : start + step]), n_threads)[1] < 0
        for start in range(0, rows.shape[0], step)
    )


def _first_not_binary(rows: Any) -> Cell | None:
    return first_odd(rows, lambda values: (values != 0) & (values != 1))
