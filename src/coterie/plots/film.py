"""The film of a fit: k-means or EM, one half-step after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._history import iterations
from coterie.plots._entries import History, entries_of
from coterie.plots._frames import Frame, frames_of, places_of
from coterie.plots._gaussians import Components, shares_of
from coterie.plots._outlines import cells, draw_cells, draw_covariance
from coterie.plots._plane import as_numbers, axis_names, even_sample, size_of_points
from coterie.plots._style import (
    INK,
    NOISE_COLOR,
    color_of,
    mixed_colors,
    new_axes,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

__all__ = ["animate", "save_film"]

Floats = npt.NDArray[np.float64]
#: How far beyond rows and centres an ellipse is followed, in their range.
_AROUND = 0.3


def animate(
    history: History | Any,
    X: npt.ArrayLike | None = None,
    *,
    start: Any = None,
    regions: bool = True,
    columns: tuple[int, int] = (0, 1),
    feature_names: Sequence[str] | None = None,
    max_points: int = 3000,
    seconds: float = 0.8,
    ax: Axes | None = None,
) -> FuncAnimation:
    """Make a film of k-means or EM from the parameters of every iteration.

    Rows first choose (k-means: the colour of the nearest centre, over its Voronoi region; EM: mixed
    colours), then the centres move, or the ellipses of two standard deviations do. The title tells
    the objective after each half-step.

    Parameters
    ----------
    history
        A model that was fitted with ``keep="parameters"``, or its `history_`.
    X
        Rows to be drawn, shape (n_rows, n_columns); None for the centres alone.
    start
        Where the fit began, which a history does not know: centres of shape (n_clusters,
        n_columns); of EM weights, means and covariances. None: the film begins with the centres
        after the first iteration.
    regions
        Whether k-means shows which part of the plane is nearest to each centre (of two columns).
    columns
        The two columns to be shown; owners of rows are always found by all columns.
    feature_names
        Names of the columns; None for those of the frame, if X is one.
    max_points
        Draw at most so many rows, evenly sampled.
    seconds
        How long a picture stands.
    ax
        Axes to draw into; None for a new figure.

    Returns
    -------
    FuncAnimation
        Of matplotlib: `save_film` writes it as GIF or as a page; in a notebook ``to_jshtml()``
        shows it. Its `ax` is the axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.plots import animate, save_film
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> model = KMeans(3, init=X[:3], keep="parameters").fit(X)
    >>> film = animate(model.history_, X, start=X[:3])
    >>> save_film("kmeans.gif", film)
    >>> film.ax.get_title()[:10]
    'iteration '
    """
    from matplotlib.animation import FuncAnimation

    entries = iterations(entries_of(history, "animate"))
    if not entries:
        raise ValueError("animate: the history has stages and no iterations; use stages.")
    frames = frames_of(entries, start, "animate")
    n_columns = places_of(frames[0].centers).shape[1]
    if n_columns < 2:
        raise ValueError("animate: the centres have one column; two are drawn.")
    names = axis_names(X, feature_names, n_columns)
    rows = np.empty((0, n_columns))
    if X is not None:
        table = X if isinstance(X, np.ndarray) else np.asarray(X)
        rows = as_numbers(table[even_sample(len(table), max_points)], names, "animate")
        rows = rows[np.isfinite(rows).all(axis=1)]
        if rows.shape[1] != n_columns:
            raise ValueError(
                f"animate: X has {rows.shape[1]} columns and the history {n_columns}; pass the "
                "rows of the fit."
            )
    ax = new_axes() if ax is None else ax
    box = _box(rows, frames, columns)
    shown = regions and n_columns == 2

    def draw(place: int) -> list[Any]:
        ax.clear()
        _draw_frame(ax, frames[place], rows, columns, box if shown else None)
        ax.set(xlim=box[:2], ylim=box[2:], xlabel=names[columns[0]], ylabel=names[columns[1]])
        plain(ax)
        ax.set_title(frames[place].caption, color=INK, fontsize=12)
        return []

    figure = ax.get_figure()
    assert figure is not None
    draw(0)
    film = FuncAnimation(
        figure.figure, draw, frames=len(frames), interval=1000 * seconds, init_func=list
    )
    film.ax = ax  # type: ignore[attr-defined]
    return film


def _box(
    rows: Floats, frames: Sequence[Frame], columns: tuple[int, int]
) -> tuple[float, float, float, float]:
    """Limits that hold all rows and every centre of every frame, and most of every ellipse."""
    picked = list(columns)
    seen = np.vstack([rows, *(places_of(frame.centers) for frame in frames)])[:, picked]
    low, high = seen.min(axis=0), seen.max(axis=0)
    far = _AROUND * (high - low)  # an ellipse may be far larger than what it is about
    least, most = low - far, high + far
    for components in (frame.centers for frame in frames):
        if isinstance(components, Components):
            reach = 2 * np.sqrt(np.diagonal(components.covariances, axis1=1, axis2=2))[:, picked]
            means = components.means[:, picked]
            low = np.minimum(low, np.maximum(means - reach, least).min(axis=0))
            high = np.maximum(high, np.minimum(means + reach, most).max(axis=0))
    room = 0.06 * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
    return left, right, bottom, top


def _draw_frame(ax: Axes, frame: Frame, rows: Floats, columns: tuple[int, int], box: Any) -> None:
    """Rows in the colours of their owners, then regions or ellipses, then the centres."""
    picked = list(columns)
    area, _ = size_of_points(len(rows))
    colors: Any = NOISE_COLOR if frame.owners is None else _colors(frame.owners, rows)
    ax.scatter(
        rows[:, picked[0]], rows[:, picked[1]], s=area, c=colors, alpha=0.8, linewidths=0, zorder=2
    )
    soft = isinstance(frame.centers, Components)
    places = places_of(frame.centers)[:, picked]
    if soft:
        for component, matrix in enumerate(frame.centers.covariances):
            own = matrix[np.ix_(picked, picked)]
            draw_covariance(ax, places[component], own, color_of(component))
    elif box is not None:
        draw_cells(ax, cells(places, np.zeros(len(places)), box))
    if frame.moved_from is not None:
        for here, there in zip(frame.moved_from[:, picked], places, strict=True):
            ax.plot([here[0], there[0]], [here[1], there[1]], color=INK, linewidth=1.4, zorder=4)
    owned = [color_of(cluster) for cluster in range(len(places))]
    ax.scatter(
        places[:, 0], places[:, 1], s=190, c=owned, marker="X", edgecolors="white", linewidths=1.4,
        zorder=5,
    )  # fmt: skip


def _colors(owners: Any, rows: Floats) -> Any:
    """Of soft owners mixed colours, of centres that of the nearest."""
    if isinstance(owners, Components):
        return mixed_colors(shares_of(owners, rows))
    sq_dist = np.square(rows[:, np.newaxis] - owners).sum(axis=2)
    return [color_of(cluster) for cluster in sq_dist.argmin(axis=1).tolist()]


def save_film(path: str | os.PathLike[str], film: FuncAnimation, *, dpi: float = 80) -> None:
    """Write a film: `.gif` by Pillow, or `.html`, a page with buttons that needs no network.

    Parameters
    ----------
    path
        Where to; its ending says what.
    film
        What `animate` returned.
    dpi
        Pixels an inch.
    """
    target = Path(path)
    if target.suffix.lower() == ".gif":
        film.save(target, writer="pillow", dpi=dpi)
    elif target.suffix.lower() in (".html", ".htm"):
        target.write_text(film_page(film, dpi=dpi), encoding="utf-8")
    else:
        raise ValueError(f"save_film: {target.name} ends in {target.suffix!r}; use .gif or .html.")


#: The buttons of matplotlib's player, by the names of the icons it would fetch.
_BUTTONS = {
    "fa-minus": "−", "fa-plus": "+", "fa-fast-backward": "«", "fa-fast-forward": "»",
    "fa-step-backward": "‹", "fa-step-forward": "›", "fa-play": "▶", "fa-pause": "||",
}  # fmt: skip


def film_page(film: FuncAnimation, *, dpi: float = 80) -> str:
    """The film as a page of its own: pictures inside, buttons of plain characters."""
    from matplotlib import rc_context

    with rc_context({"savefig.dpi": dpi, "animation.embed_limit": 200}):
        player = film.to_jshtml()
    icons = [f'.{name}::before{{content:"{sign}"}}' for name, sign in _BUTTONS.items()]
    icons.append(".fa{font-style:normal}")
    icons.append(".fa-flip-horizontal{display:inline-block;transform:scaleX(-1)}")
    player = re.sub(r"<link[^>]*>", f"<style>{' '.join(icons)}</style>", player)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>A fit, step by step'
        f"</title></head>\n<body>\n{player}\n</body>\n</html>\n"
    )
