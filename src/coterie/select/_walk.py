"""Choosing a number of clusters by where the border of the best partition leaps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from coterie.select._contest import Round

Floats = npt.NDArray[np.float64]

#: Numbers of clusters tried at least and at most, and rows a cluster has on average at the last.
_LEAST, _MOST, _ROWS_EACH = 10, 150, 10
#: Past the least, the walk ends where so many borders in a row are wider than this.
_WIDE, _IN_A_ROW = 0.3, 3
#: What a border counts for at least in a leap, and how much of the step before is taken off.
_BASE, _BEFORE = 0.01, 0.2
#: The widest border of clusters that may be chosen while there are others.
_APART = 0.15


def walk(play: Callable[[int], Round], n_rows: int, n_distinct: int) -> dict[int, Round]:
    """Rounds for 2, 3, ... clusters, one more than may be chosen."""
    most = min(n_distinct, max(_LEAST, min(_MOST, n_rows // _ROWS_EACH)) + 1)
    found: dict[int, Round] = {}
    n_wide = 0
    for k in range(2, most + 1):
        found[k] = play(k)
        n_wide = n_wide + 1 if found[k].winner.border > _WIDE else 0
        if k > _LEAST and n_wide >= _IN_A_ROW:
            break
    return found


def leaps(borders: Floats) -> Floats:
    """How far the border leaps from each number of clusters, 2 on, to the next; one value fewer.

    With b_k the border of the best partition into k clusters or more and L_k = log(b_k + 0.01),
    the leap is (L_{k+1} - L_k) - (L_k - L_{k-1}) / 5: large where one cluster more must cut through
    what is dense, and one fewer needs not. One cluster has no border.
    """
    # Clusters can be merged and no border gets wider, so what k + 1 clusters reach, k do.
    least = np.minimum.accumulate(borders[::-1])[::-1]
    logs = np.log(np.concatenate([[0.0], least]) + _BASE)
    steps = np.diff(logs)
    return steps[1:] - _BEFORE * steps[:-1]


def largest_leap(rounds: dict[int, Round]) -> int:
    """The number of clusters from which the border leaps farthest; of equals, the least.

    Only of those with a border of at most 0.15, if there are any.
    """
    borders = np.array([rounds[k].winner.border for k in sorted(rounds)])
    if borders.size == 1:
        return min(rounds)
    found, apart = leaps(borders), borders[:-1] <= _APART
    if apart.any():
        found[~apart] = -np.inf
    return min(rounds) + int(np.argmax(found))
