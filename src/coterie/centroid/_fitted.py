"""Passes of fitted centres over rows that nobody has looked at yet.

Labels and distances do not depend on the coordinates they are computed in, so each block has its
own: one pass over the rows answers, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.centroid._checked_space import checked_space
from coterie.centroid._passes import dists_of, label_rows, sse_of_nearest
from coterie.centroid._space import Space
from coterie.data import ArraySource, Block

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """Fitted centres, whose they are, and the names of the columns."""

    who: str
    centers: Floats
    names: Sequence[str] | None = None

    def space(self, block: Block) -> Space:
        """Coordinates for a block; a clear error where it holds what has no distance."""
        rows = ArraySource(block.rows, block.weights, block.n_threads)
        return checked_space(self.who, rows, self.centers, self.names, block.start)[1]


def label_any(block: Block, fitted: Fitted, labels: npt.NDArray[np.int32]) -> None:
    """Fill in the nearest centre of every row."""
    label_rows(block, fitted.centers, fitted.space(block), labels)


def dists_of_any(block: Block, fitted: Fitted, dists: npt.NDArray[Any]) -> None:
    """Fill in the distance of every row to every centre."""
    dists_of(block, fitted.centers, fitted.space(block), dists)


def sse_of_any(block: Block, fitted: Fitted) -> float:
    """Weighted sum of squared distances to the nearest centres."""
    return sse_of_nearest(block, fitted.centers, fitted.space(block))
