"""What is drawn around the points of a cluster: its ellipse, its hull, its region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._style import color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
#: Left, right, bottom, top.
Box = tuple[float, float, float, float]


def draw_ellipse(ax: Axes, points: Floats, color: str) -> None:
    """The covariance of the points: one standard deviation from their mean in every direction."""
    mean = points.mean(axis=0)
    # Singular values instead of a covariance matrix: no squares, no overflow.
    _, singular, directions = np.linalg.svd(points - mean, full_matrices=False)
    _add_ellipse(ax, mean, singular / np.sqrt(len(points) - 1), directions[0], color)


def draw_covariance(
    ax: Axes, mean: Floats, covariance: Floats, color: str, deviations: float = 2.0
) -> None:
    """So many standard deviations of a Gaussian around its mean."""
    variances, directions = np.linalg.eigh(covariance)
    reach = deviations * np.sqrt(np.maximum(variances[::-1], 0.0))
    _add_ellipse(ax, mean, reach, directions[:, -1], color)


def _add_ellipse(ax: Axes, middle: Any, reach: Floats, along: Floats, color: str) -> None:
    """A tinted ellipse under the points and its outline above them."""
    from matplotlib.patches import Ellipse

    width, height = 2 * reach
    angle = np.degrees(np.arctan2(along[1], along[0]))
    ellipse = Ellipse(middle, width, height, angle=angle)
    ellipse.set(facecolor=color, edgecolor=color, alpha=0.16, zorder=1)
    ax.add_patch(ellipse)
    outline = Ellipse(middle, width, height, angle=angle)
    outline.set(fill=False, edgecolor=color, linewidth=1.6, zorder=3)
    ax.add_patch(outline)


def draw_hull(ax: Axes, points: Floats, color: str) -> None:
    """The convex hull of the points; of points on a line, the line."""
    corners = hull_of(points)
    (patch,) = ax.fill(corners[:, 0], corners[:, 1], facecolor=color, alpha=0.16, zorder=1)
    patch.set_edgecolor("none")
    closed = np.vstack([corners, corners[:1]])
    ax.plot(closed[:, 0], closed[:, 1], color=color, linewidth=1.6, zorder=3)


def hull_of(points: Floats) -> Floats:
    """Corners of the convex hull, (n_corners, 2); the two ends where all lie on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        away = points - points.mean(axis=0)
        along = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        return points[[along.argmin(), along.argmax()]]


def cells(centers: Floats, heights: Floats, box: Box) -> list[Floats]:
    """The part of a box that is nearest to each centre: corners of convex polygons.

    A point u is nearest to the centre with the least |u - c|^2 + h. Without heights h these are
    Voronoi cells; with them, what a plane shows of the cells of centres that lie off it. Each pair
    cuts along a line, so a cell is the box clipped by k - 1 half-planes: O(k^2) time. A cell may be
    empty.
    """
    left, right, bottom, top = box
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    found = []
    for center, height in zip(centers, heights, strict=True):
        cell = corners
        for other, other_height in zip(centers, heights, strict=True):
            # |u - c|^2 + h <= |u - o|^2 + g: linear in u.
            normal = 2 * (other - center)
            if len(cell) and normal.any():
                least = other @ other + other_height - center @ center - height
                cell = _clip(cell, normal, least)
        found.append(cell)
    return found


def _clip(polygon: Floats, normal: Floats, limit: float) -> Floats:
    """The part of a convex polygon with normal . u <= limit (Sutherland & Hodgman 1974)."""
    room = limit - polygon @ normal
    kept = []
    for i in range(len(polygon)):
        here, there = room[i - 1], room[i]
        if (here < 0) != (there < 0):
            share = here / (here - there)
            kept.append(polygon[i - 1] + share * (polygon[i] - polygon[i - 1]))
        if there >= 0:
            kept.append(polygon[i])
    return np.array(kept).reshape(-1, 2)


def draw_cells(ax: Axes, polygons: list[Floats], alpha: float = 0.14) -> list[Any]:
    """Tinted regions under everything else, with thin borders; one patch for each centre."""
    from matplotlib.patches import Polygon

    patches = []
    for cluster, corners in enumerate(polygons):
        color = color_of(cluster)
        shape = corners if len(corners) else np.full((3, 2), np.nan)
        patch = Polygon(shape, closed=True, facecolor=color, edgecolor="none", alpha=alpha)
        patch.set_zorder(0)
        ax.add_patch(patch)
        border = Polygon(shape, closed=True, fill=False, edgecolor="white", linewidth=1.2)
        border.set_zorder(0.5)
        ax.add_patch(border)
        patches += [patch, border]
    return patches
