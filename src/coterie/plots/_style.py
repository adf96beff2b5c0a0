"""How all figures look: colours, markers and plain axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Told apart with any of the common colour deficiencies (after Okabe and Ito, 2008).
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#8C6D31")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")

NOISE_COLOR = "#9A9A9A"
INK = "#333333"


def color_of(cluster: int) -> str:
    """Colour of a cluster; noise is grey."""
    return NOISE_COLOR if cluster < 0 else _COLORS[cluster % len(_COLORS)]


def marker_of(cluster: int) -> str:
    """Marker of a cluster: when the colours have been used up, the next marker begins."""
    return "." if cluster < 0 else _MARKERS[cluster // len(_COLORS) % len(_MARKERS)]


def new_axes() -> Axes:
    """Axes in a new figure, 900 x 600 pixels when saved."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'coterie[plot]'.") from error
    _, ax = pyplot.subplots(figsize=(9, 6), dpi=100, layout="constrained")
    return ax


def printable(text: object) -> str:
    """Text as a figure can show it: no formulas, a box for each sign that the font lacks."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    known = font.get_charmap()
    signs = [sign if ord(sign) in known or sign == "\n" else "□" for sign in str(text)]
    return "".join(signs).replace("$", r"\$")


def plain(ax: Axes) -> None:
    """Only the two axes that carry numbers, in a quiet grey."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(NOISE_COLOR)
    ax.tick_params(colors=INK, labelsize=10)
    ax.xaxis.label.set(color=INK, fontsize=12)
    ax.yaxis.label.set(color=INK, fontsize=12)
    ax.title.set(color=INK, fontsize=14)
