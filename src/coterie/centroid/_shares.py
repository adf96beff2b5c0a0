"""Which rows a cluster of a bisection has: by number in memory, by the way down elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from coterie.centroid._passes import choose_space, labels_of
from coterie.data import ArraySource, Block, Source

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Split:
    """A cluster in two: the halves' centres, SSE and numbers of rows; the half each row is in is
    told only of rows in memory.
    """

    centers: npt.NDArray[Any]
    inertias: Floats
    n_rows: Ints
    labels: Labels | None = None


class Share(Protocol):
    """The rows of a cluster, as a share of all rows."""

    @property
    def n_rows(self) -> int:
        """How many they are."""
        ...

    def of(self, blocks: Source) -> Source:
        """Those rows of the source of all rows."""
        ...

    def halves(self, split: Split) -> tuple[Share, Share]:
        """The shares of the halves."""
        ...


class Numbered:
    """Rows by number: 8 bytes for each."""

    def __init__(self, row_ids: Ints) -> None:
        self.row_ids = row_ids
        self.n_rows = row_ids.size

    def of(self, blocks: Source) -> Source:
        return blocks if self.n_rows == blocks.n_rows else blocks.pick(self.row_ids)

    def halves(self, split: Split) -> tuple[Share, Share]:
        assert split.labels is not None
        left, right = (Numbered(self.row_ids[split.labels == half]) for half in (0, 1))
        self.row_ids = self.row_ids[:0].copy()  # nobody asks again
        return left, right


@dataclass(frozen=True)
class Reached:
    """Rows by the way down to them: at each split, the centres and the half gone to.

    They are found anew on every pass over all rows, whose memory is that of a block.
    """

    n_rows: int
    way: tuple[tuple[Floats, int], ...] = ()

    def of(self, blocks: Source) -> Source:
        return blocks.where(self.keeps) if self.way else blocks

    def keeps(self, rows: Any) -> npt.NDArray[np.bool_]:
        """Which rows come this way."""
        here = np.arange(rows.shape[0])
        for centers, side in self.way:
            if here.size:
                some = ArraySource(rows[here])
                labels = labels_of(Block(some.rows, None, 0, 1), centers, choose_space(some)[1])
                here = here[labels == side]
        kept = np.zeros(rows.shape[0], dtype=bool)
        kept[here] = True
        return kept

    def halves(self, split: Split) -> tuple[Share, Share]:
        centers = split.centers.astype(np.float64)
        left, right = (
            Reached(int(split.n_rows[half]), (*self.way, (centers, half))) for half in (0, 1)
        )
        return left, right


def everything(blocks: Source) -> Share:
    """All rows."""
    if isinstance(blocks, ArraySource):
        return Numbered(np.arange(blocks.n_rows))
    return Reached(blocks.n_rows)
