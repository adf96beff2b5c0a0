"""Where the points of a map lie close: lines that enclose given shares of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

Floats = npt.NDArray[np.float64]

#: Places along each axis, and how far the grid goes beyond the points at least, in parts of their
#: range and in widths of the Gaussian: lines must close.
_PLACES, _MARGIN, _REACH = 64, 0.08, 2.5
#: Points below which lines would be drawn around single ones.
_FEWEST = 30


class Density(NamedTuple):
    """The axes of a grid, and of each place the share of points where it is as dense or denser."""

    x: Floats
    y: Floats
    inside: Floats  # (y, x)


def density(x: Any, y: Any, *, clustered: bool) -> Density | None:
    """Smoothed counts, turned into the share of points that a line through a place encloses.

    The level sets of a density by the probability they hold (Hyndman 1996), from a histogram
    smoothed by a Gaussian of Scott's width (1992), or half of it where points are `clustered`,
    since clusters are narrower than the whole. None for few points or where all lie on a line of
    the grid. O(n) time.
    """
    points = np.column_stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(2), np.zeros(2))
    if len(points) < _FEWEST or not (high > low).all():
        return None
    width = (0.5 if clustered else 1.0) * len(points) ** (-1 / 6) * points.std(0)
    margin = np.maximum(_MARGIN * (high - low), _REACH * width)
    low, high = low - margin, high + margin
    counts, at_x, at_y = np.histogram2d(
        points[:, 0], points[:, 1], bins=_PLACES, range=np.column_stack([low, high])
    )
    in_places = width / ((high - low) / _PLACES)
    smooth = gaussian_filter(counts, np.maximum(in_places, 0.8), mode="constant")
    return Density(_middles(at_x), _middles(at_y), _share_inside(smooth).T)


def _middles(edges: Floats) -> Floats:
    return (edges[1:] + edges[:-1]) / 2


def _share_inside(dense: Floats) -> Floats:
    """Of each place the share of the whole that lies where it is as dense or denser."""
    order = np.argsort(-dense, axis=None, kind="stable")
    inside = np.empty(dense.size)
    inside[order] = np.cumsum(dense.ravel()[order]) / dense.sum()
    return inside.reshape(dense.shape)
