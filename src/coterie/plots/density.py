"""The picture of a mixture's density: contours, or a surface in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._gaussians import Components, components_of, log_densities, marginal
from coterie.plots._outlines import draw_covariance
from coterie.plots._plane import as_numbers, axis_names, even_sample, size_of_points
from coterie.plots._style import INK, NOISE_COLOR, SHADES, color_of, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["density"]

Floats = npt.NDArray[np.float64]
#: Standard deviations around every mean that are in the picture.
_REACH = 4.0
#: Faces along a side of a surface.
_MOST_FACES = 60


def density(
    mixture: Any,
    X: npt.ArrayLike | None = None,
    *,
    columns: tuple[int, int] = (0, 1),
    ellipses: bool = True,
    grid: int = 120,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the density of a Gaussian mixture in the plane of two columns.

    Into usual axes it is drawn as contours, each a quarter as dense as the next one inside it, with
    the rows and an ellipse at two standard deviations of each component. Into axes with
    ``projection="3d"`` it is drawn as a surface. Of more than two columns it is the density of the
    two alone (their marginal). Time O(grid^2 * n_components).

    Parameters
    ----------
    mixture
        A fitted GaussianMixture; an entry of its `history_` with ``keep="parameters"``; or weights
        (k,), means (k, d) and covariances (k, d, d).
    X
        Rows to be drawn with the contours; None for none.
    columns
        The two columns to be shown.
    ellipses
        Whether to draw the components, too.
    grid
        Points along each side at which the density is computed.
    feature_names
        Names of the columns; None for those of the frame, if X is one.
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
    >>> from matplotlib import pyplot
    >>> from coterie.plots import density
    >>> mixture = [0.5, 0.5], [[0, 0], [4, 4]], [np.eye(2), np.eye(2)]
    >>> density(mixture).get_xlabel()
    'x0'
    >>> surface = density(mixture, ax=pyplot.figure().add_subplot(projection="3d"))
    >>> surface.get_zlabel()
    'density'
    """
    from matplotlib.colors import LogNorm

    components = components_of(mixture, "density")
    n_columns = components.means.shape[1]
    if n_columns < 2:
        raise ValueError(f"density: the mixture has {n_columns} column; two are drawn.")
    flat = marginal(components, columns)
    names = axis_names(X, feature_names, n_columns)
    rows = None
    if X is not None:
        table = X if isinstance(X, np.ndarray) else np.asarray(X)
        rows = as_numbers(table[even_sample(len(table), 20_000)], names, "density")
        rows = rows[:, list(columns)]
        rows = rows[np.isfinite(rows).all(axis=1)]
    x, y, height = _on_grid(flat, rows, grid)
    ax = new_axes() if ax is None else ax
    ax.set(xlabel=names[columns[0]], ylabel=names[columns[1]])
    if hasattr(ax, "plot_surface"):
        draw_surface(ax, x, y, height, "density")
    else:
        if rows is not None:
            area, opacity = size_of_points(len(rows))
            ax.scatter(
                rows[:, 0], rows[:, 1], s=area, c=NOISE_COLOR, alpha=opacity, linewidths=0, zorder=1
            )
        levels = float(height.max()) / 4.0 ** np.arange(5, -1, -1) / 1.5  # none at the peak itself
        ax.contour(
            x, y, height, levels=levels.tolist(), cmap=SHADES, norm=LogNorm(), linewidths=1.2,
            zorder=2,
        )  # fmt: skip
        if ellipses:
            for component, (mean, matrix) in enumerate(zip(*flat[1:], strict=True)):
                draw_covariance(ax, mean, matrix, color_of(component))
        plain(ax)
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax


def _on_grid(flat: Components, rows: Floats | None, n: int) -> tuple[Floats, Floats, Floats]:
    """The density on a grid around all components and rows."""
    deviations = np.sqrt(np.diagonal(flat.covariances, axis1=1, axis2=2))
    seen = [flat.means - _REACH * deviations, flat.means + _REACH * deviations]
    if rows is not None and len(rows):
        seen.append(rows)
    low, high = np.vstack(seen).min(axis=0), np.vstack(seen).max(axis=0)
    room = 0.03 * (high - low)  # for the discs of the rows
    x, y = np.meshgrid(*(np.linspace(low[i] - room[i], high[i] + room[i], n) for i in range(2)))
    places = np.column_stack([x.ravel(), y.ravel()])
    return x, y, np.exp(log_densities(flat, places)).sum(axis=1).reshape(x.shape)


def draw_surface(ax: Any, x: Floats, y: Floats, height: Floats, name: str) -> None:
    """A surface over a grid, in shades of its height."""
    # Thinned here: of faces with different numbers of corners matplotlib projects stray memory.
    step = -(-len(x) // _MOST_FACES)
    thin = (slice(None, None, step), slice(None, None, step))
    ax.plot_surface(
        x[thin], y[thin], height[thin], cmap=SHADES, rstride=1, cstride=1, linewidth=0.1,
        edgecolor="#00000022",
    )  # fmt: skip
    ax.set_zlabel(name, labelpad=9)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.label.set(color=INK, fontsize=11)
        axis.set_pane_color((1, 1, 1, 0))
    ax.tick_params(colors=INK, labelsize=8)
