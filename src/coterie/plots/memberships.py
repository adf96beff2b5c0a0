"""The picture of soft memberships: rows in mixed colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._plane import as_numbers, axis_names, even_sample, plane_of, size_of_points
from coterie.plots._style import INK, color_of, mixed_colors, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["memberships"]

Floats = npt.NDArray[np.float64]
#: What rounding may add to the sum of a row's memberships.
_SLACK = 1e-4


def memberships(
    X: npt.ArrayLike,
    shares: npt.ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    max_points: int = 20_000,
    title: str | None = None,
) -> Axes:
    """Draw rows as points whose colour is mixed from those of their clusters.

    A row that belongs to one cluster alone has its pure colour; between two clusters the colours
    run into each other. What a row's memberships lack to 1, its part in a background or in noise,
    is grey. More than two columns are seen through their first two principal components.

    Parameters
    ----------
    X
        Rows, shape (n_rows, n_columns >= 2); an array or a data frame.
    shares
        Memberships from 0 to 1, shape (n_rows, n_clusters), at most 1 per row: `predict_proba` of a
        mixture.
    feature_names
        Names of the columns, for the axes; None for those of the frame, if X is one.
    ax
        Axes to draw into; None for a new figure.
    max_points
        Draw at most so many rows, evenly sampled.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GaussianMixture
    >>> from coterie.plots import memberships
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(3, 1, (50, 2))])
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> ax = memberships(X, model.predict_proba(X))
    >>> len(ax.collections[0].get_offsets())
    100
    """
    rows = X if isinstance(X, np.ndarray) else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] < 2 or len(rows) == 0:
        raise ValueError(
            f"memberships: X has shape {rows.shape}; pass at least one row of at least two columns."
        )
    own = checked_shares(shares, len(rows), "memberships")
    names = axis_names(X, feature_names, rows.shape[1])
    sample = even_sample(len(rows), max_points)
    points, own = as_numbers(rows[sample], names, "memberships"), own[sample]
    finite = np.isfinite(points).all(axis=1)
    points, own = points[finite], own[finite]

    ax = new_axes() if ax is None else ax
    if len(points):
        plane = plane_of(points, names)
        area, _ = size_of_points(len(points))
        flat = plane.project(points)
        # No opacity: a mixture of colours must not mix with the paper.
        ax.scatter(flat[:, 0], flat[:, 1], s=area, c=mixed_colors(own), linewidths=0, zorder=2)
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    ax.margins(0.06)
    name_clusters(ax, own)
    ax.set_title(printable(title or ""))
    plain(ax)
    return ax


def checked_shares(given: Any, n_rows: int | None, who: str) -> Floats:
    """Memberships of all rows, checked."""
    shares = np.asarray(given, dtype=np.float64)
    wrong = shares.ndim != 2 or not shares.size or (n_rows is not None and len(shares) != n_rows)
    if wrong or not (shares >= 0).all() or not (shares.sum(axis=1) <= 1 + _SLACK).all():
        wanted = "(n_rows, n_clusters)" if n_rows is None else f"({n_rows}, n_clusters)"
        raise ValueError(
            f"{who}: the memberships have shape {shares.shape}, and numbers from 0 to 1 of shape "
            f"{wanted} with sums of at most 1 per row are needed; pass predict_proba(X)."
        )
    return shares


def name_clusters(ax: Axes, shares: Floats) -> None:
    """A legend of the pure colours, with the share of the rows that each cluster has in all."""
    from matplotlib.lines import Line2D

    if shares.shape[1] > 16 or not len(shares):
        return
    mass = shares.mean(axis=0)
    entries = [(cluster, f"{cluster}: {share:.0%}") for cluster, share in enumerate(mass)]
    if mass.sum() < 1 - _SLACK:
        entries.append((-1, f"none: {1 - mass.sum():.0%}"))
    handles = [
        Line2D([], [], linestyle="", marker="o", color=color_of(cluster), markersize=8, label=name)
        for cluster, name in entries
    ]
    ax.legend(
        handles=handles, title="cluster: share", loc="upper left", bbox_to_anchor=(1.01, 1),
        borderaxespad=0, frameon=False, labelcolor=INK,
    )  # fmt: skip
