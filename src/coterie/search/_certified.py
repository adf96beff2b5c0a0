"""What a certified search answers with, and what it must know of rows for its proof."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.search._code_space import CodeSpace, Doubles

Floats = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

#: Rows that are looked at together.
_BLOCK = 1 << 14


class CertifiedNeighbors(NamedTuple):
    """Neighbours that are proved to be the nearest, and how many rows were compared for that.

    `dists` and `ids` are of shape (n_queries, k), `n_compared` of shape (n_queries,).
    """

    dists: npt.NDArray[np.float64]
    ids: Ints
    n_compared: Ints


class Gaps(NamedTuple):
    """How far every row is from its code, and from the centre of its list; rounded up."""

    errors: npt.NDArray[np.float32]
    reaches: npt.NDArray[np.float32]


def gaps(
    space: CodeSpace, rows: Floats, codes: npt.NDArray[np.uint8], turned: Doubles, labels: Ints
) -> Gaps:
    """Of rows whose residuals from centre ``labels[i]`` have these codes; in float64.

    `turned` are the centres in the space of the codes, `codes` one per part.
    """
    found = Gaps(np.empty(len(rows), np.float32), np.empty(len(rows), np.float32))
    for begin in range(0, len(rows), _BLOCK):
        here = slice(begin, begin + _BLOCK)
        off = space.place(rows[here]) - turned[labels[here]]
        found.reaches[here] = lengths_up(off)
        found.errors[here] = lengths_up(off - space.decode(codes[here]))
    return found


def lengths_up(rows: Doubles) -> npt.NDArray[np.float32]:
    """The lengths of rows, rounded up."""
    exact = np.sqrt(np.square(rows).sum(axis=1)) * (1 + 1e-12)
    return np.nextafter(exact.astype(np.float32), np.float32(np.inf))


def longest(rows: Floats, metric: str) -> float:
    """The length of the longest row as it is compared, rounded up."""
    if metric == "cosine":
        return 1 + 1e-9
    squares = (
        float(np.square(rows[i : i + _BLOCK], dtype=np.float64).sum(axis=1).max(initial=0))
        for i in range(0, len(rows), _BLOCK)
    )
    return float(np.sqrt(max(squares, default=0.0))) * (1 + 1e-9)
