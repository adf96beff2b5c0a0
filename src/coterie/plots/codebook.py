"""The picture of a codebook: a strip of its words, each as wide as it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.plots._style import INK, SHADES, finite_table, new_axes, plain, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["codebook"]


def codebook(
    words: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the words of a codebook beside each other, from dark to light or from small to large.

    Words of three numbers are colours, as in the palette of a picture; each has a field. Longer or
    shorter words are columns of a heat map. With counts a field is as wide as its word is used.

    Parameters
    ----------
    words
        Shape (n_words, n_columns); colours from 0 to 255, or from 0 to 1.
    counts
        How often each is used, shape (n_words,); None: all fields are equally wide.
    ax
        Axes to draw into; None for a new figure.
    title
        Title of the figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> from coterie.plots import codebook
    >>> palette = [[20, 20, 60], [250, 200, 120], [120, 80, 100]]
    >>> ax = codebook(palette, counts=[10, 30, 60])
    >>> [round(float(field.get_width()), 2) for field in ax.patches]
    [0.1, 0.6, 0.3]
    """
    table = finite_table(words, "codebook", "words")
    given = np.ones(len(table)) if counts is None else np.asarray(counts, dtype=np.float64)
    if given.shape != (len(table),) or not (given >= 0).all() or not given.sum() > 0:
        raise ValueError(
            f"codebook: counts have shape {given.shape} and there are {len(table)} words; pass a "
            "number of at least 0 for each, not all 0."
        )
    colors = table.shape[1] == 3 and table.min() >= 0 and table.max() <= 255
    light = table @ [0.299, 0.587, 0.114] if colors else np.linalg.norm(table, axis=1)
    order = np.argsort(light, kind="stable")
    widths = given[order] / given.sum()
    edges = np.concatenate([[0.0], np.cumsum(widths)])
    ax = new_axes() if ax is None else ax
    if colors:
        _draw_colors(ax, table[order] / (255 if table.max() > 1 else 1), edges)
    else:
        _draw_columns(ax, table[order], edges)
    ax.set_xlim(0, 1)
    if counts is None:
        ax.set(xticks=[], xlabel=f"{len(table):,} words")
    else:
        ax.set(xlabel="share of the rows")
    ax.set_title(printable(title or ""), color=INK, fontsize=14)
    return ax


def _draw_colors(ax: Axes, colors: npt.NDArray[Any], edges: npt.NDArray[Any]) -> None:
    """A field for each colour."""
    ax.bar(edges[:-1], 1.0, width=np.diff(edges), align="edge", color=colors.tolist(), linewidth=0)
    ax.set(ylim=(0, 1), yticks=[])
    plain(ax)
    ax.spines[:].set_visible(False)


def _draw_columns(ax: Axes, words: npt.NDArray[Any], edges: npt.NDArray[Any]) -> None:
    """A column of shades for each word, its first number on top."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    lines = np.arange(words.shape[1] + 1) - 0.5
    mesh = ax.pcolormesh(edges, lines, words.T, cmap=SHADES)
    ax.set(ylabel="column", ylim=(lines[-1], lines[0]))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    plain(ax)
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.colorbar(mesh, ax=ax, label="value")
