"""How clusters are numbered: from 0 by their first member, with noise apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: The label of rows in no cluster.
NOISE = -1


def number_by_first(groups: npt.NDArray[Any], min_size: int = 1) -> npt.NDArray[np.int64]:
    """Labels for groups that are marked in any way, numbered by the first member of each.

    Members of groups smaller than `min_size` are noise.
    """
    _, first, group, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    kept = np.flatnonzero(sizes >= min_size)
    number = np.full(sizes.size, NOISE, dtype=np.int64)
    number[kept[np.argsort(first[kept])]] = np.arange(kept.size)
    return number[group.ravel()]
