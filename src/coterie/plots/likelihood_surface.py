"""The picture of the likelihood of two Gaussians with unknown means: a surface with twin modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie._checks import positive
from coterie.plots._style import INK, SHADES, color_of, new_axes, plain, printable
from coterie.plots.density import draw_surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["likelihood_surface"]

Floats = npt.NDArray[np.float64]
#: How deep below the peaks is drawn, in heights of the peaks above the saddle between them.
_DEPTH = 3.0


def likelihood_surface(
    x: npt.ArrayLike,
    *,
    scale: float,
    weight: float = 0.5,
    span: tuple[float, float] | None = None,
    grid: int = 90,
    paths: Sequence[npt.ArrayLike] = (),
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw log-likelihood over both means of ``weight N(mu0, s^2) + (1 - weight) N(mu1, s^2)``.

    The best point is ringed, and so is its mirror image, where the components have changed names:
    with equal weights both are equally likely, with others the mirror image is a lesser peak or
    none. What is three times as far below the best as one common mean is drawn flat. Into axes with
    ``projection="3d"`` it is drawn as a surface. Time O(n grid^2).

    Parameters
    ----------
    x
        Rows of one column, shape (n_rows,) or (n_rows, 1).
    scale
        The standard deviation s of both components, known.
    weight
        The weight of the first component, known.
    span
        The least and greatest mean in the picture; None for the range of the rows.
    grid
        Points along each side at which it is computed.
    paths
        Ways of the pair of means, each of shape (n_steps, 2), to be drawn over the contours: those
        of EM from some starts, say.
    ax
        Axes to draw into, usual or 3-D; None for a new figure with contours.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plots import likelihood_surface
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(-10, 5, 100), rng.normal(10, 5, 100)])
    >>> ax = likelihood_surface(x, scale=5, grid=40)
    >>> len(ax.collections[-1].get_offsets())
    2
    """
    values = np.asarray(x, dtype=np.float64).ravel()
    if not values.size or not np.isfinite(values).all():
        raise ValueError("likelihood_surface: x has no rows, or some are not finite.")
    if not positive().allows(scale) or not 0 < weight < 1:
        raise ValueError(
            f"likelihood_surface: scale={scale!r} and weight={weight!r} were given; use a scale "
            "above 0 and a weight between 0 and 1."
        )
    low, high = (float(values.min()), float(values.max())) if span is None else span
    means = np.linspace(low, high, grid)
    heights = log_likelihoods(values, means, scale, weight)
    best = np.unravel_index(heights.argmax(), heights.shape)
    modes = np.array([[means[best[0]], means[best[1]]], [means[best[1]], means[best[0]]]])

    ax = new_axes() if ax is None else ax
    ax.set(xlabel="mean of component 0", ylabel="mean of component 1")
    across, up = np.meshgrid(means, means, indexing="ij")
    # What is far below the saddle between the peaks would flatten them.
    saddle = float(np.diagonal(heights).max())
    floor = float(heights.max()) - _DEPTH * max(float(heights.max()) - saddle, 1.0)
    if hasattr(ax, "plot_surface"):
        draw_surface(ax, across, up, np.maximum(heights, floor), "log-likelihood")
    else:
        ax.contourf(across, up, heights, levels=np.linspace(floor, heights.max(), 22).tolist(),
                    cmap=SHADES, extend="min", zorder=0)  # fmt: skip
        ax.plot([low, high], [low, high], color="white", linewidth=1, linestyle=(0, (4, 3)))
        for place, path in enumerate(paths):
            steps = np.asarray(path, dtype=np.float64)
            color = color_of(place + 1)
            ax.plot(steps[:, 0], steps[:, 1], color="white", linewidth=3.2, zorder=2)
            ax.plot(steps[:, 0], steps[:, 1], ".-", color=color, linewidth=1.6, zorder=3)
        ax.scatter(
            modes[:, 0], modes[:, 1], s=130, facecolors="none", edgecolors=color_of(1),
            linewidths=2.2, zorder=4,
        )  # fmt: skip
        ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        plain(ax)
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax


def log_likelihoods(x: Floats, means: Floats, scale: float, weight: float) -> Floats:
    """Log-likelihood of the rows for all pairs of these means, (n_means, n_means)."""
    log_norm = np.log(scale) + np.log(2 * np.pi) / 2
    alone = -np.square((x[:, np.newaxis] - means) / scale) / 2 - log_norm
    first, second = alone + np.log(weight), alone + np.log(1 - weight)
    total = np.zeros((means.size, means.size))
    for one, other in zip(first, second, strict=True):
        total += np.logaddexp(one[:, np.newaxis], other)
    return total
