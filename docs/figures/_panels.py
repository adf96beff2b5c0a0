"""What the panels of the method figures share: points in the colours of clusters, bare frames."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse

from coterie.plots._style import INK, color_of

Floats = npt.NDArray[np.float64]


def bare(ax: Axes, title: str) -> None:
    """No frame and no numbers: only where the rows lie matters."""
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[:].set_visible(False)
    ax.set_title(title, color=INK, fontsize=12)


def points(ax: Axes, rows: Floats, labels: npt.ArrayLike, size: float = 12) -> None:
    """Rows in the colours of their clusters; noise is grey and crossed."""
    labels = np.asarray(labels)
    noise = labels < 0
    colors = [color_of(label) for label in labels[~noise]]
    ax.scatter(*rows[noise].T, s=size, c=color_of(-1), marker="x", linewidths=0.8)
    ax.scatter(*rows[~noise].T, s=size, c=colors, linewidths=0)


def centers(ax: Axes, rows: npt.ArrayLike) -> None:
    """Discs with a white rim, which show on any colour."""
    ax.scatter(*np.asarray(rows).T, s=90, c=INK, edgecolors="white", linewidths=1.6, zorder=3)


def ellipse(ax: Axes, mean: Floats, covariance: Floats, color: str, width: float = 2.0) -> None:
    """Two standard deviations about a mean."""
    lengths, axes = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    across, along = 4 * np.sqrt(lengths)
    ax.add_patch(
        Ellipse(mean, along, across, angle=angle, fill=False, ec=color, lw=width, zorder=3)
    )


def mixed_colors(responsibilities: Floats) -> Floats:
    """A colour for each row: those of the components, in the shares it belongs to them."""
    palette = np.array([to_rgb(color_of(j)) for j in range(responsibilities.shape[1])])
    return np.clip(responsibilities @ palette, 0, 1)
