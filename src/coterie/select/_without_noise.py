"""Labels for rows that a method left as noise, where every row must have one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.neighbors import Index

Labels = npt.NDArray[np.int64]


def nearest_for_noise(rows: npt.NDArray[np.float64], labels: Labels) -> Labels | None:
    """Labels with those of the nearest labelled rows in place of noise; None where all is noise.

    Time that of a nearest row for every row of noise.
    """
    known = labels >= 0
    if known.all() or not known.any():
        return labels if known.any() else None
    nearest = Index(np.ascontiguousarray(rows[known])).knn(1, np.ascontiguousarray(rows[~known]))
    filled = labels.copy()
    filled[~known] = labels[known][nearest.ids[:, 0]]
    return filled
