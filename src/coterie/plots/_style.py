"""How all figures look: colours, markers and plain axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Told apart with any of the common colour deficiencies (after Okabe and Ito, 2008).
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#8C6D31")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")

NOISE_COLOR = "#9A9A9A"
INK = "#333333"
#: Shades of a quantity from little to much, and of one with a middle: both without red and green.
SHADES, TWO_SIDED = "cividis", "PuOr_r"


def color_of(cluster: int) -> str:
    """Colour of a cluster; noise is grey."""
    return NOISE_COLOR if cluster < 0 else _COLORS[cluster % len(_COLORS)]


def marker_of(cluster: int) -> str:
    """Marker of a cluster: when the colours have been used up, the next marker begins."""
    return "." if cluster < 0 else _MARKERS[cluster // len(_COLORS) % len(_MARKERS)]


def mixed_colors(shares: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A colour for each row, (n_rows, 3): those of the clusters, mixed by its shares in them.

    What is missing to 1 is the grey of noise. Mixed as light is, so that a half of each is as
    bright as it looks.
    """
    from matplotlib.colors import to_rgb

    rest = np.clip(1 - shares.sum(axis=1, keepdims=True), 0, 1)
    pure = [to_rgb(color_of(cluster)) for cluster in (*range(shares.shape[1]), -1)]
    light = np.column_stack([shares, rest]) @ np.square(np.array(pure))
    return np.asarray(np.sqrt(np.clip(light, 0, 1)))


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


def panels(ax: Axes, widths: Sequence[float], *, gap: float = 0.04) -> list[Axes]:
    """Axes side by side in the place of `ax`, which keeps its title and draws nothing else.

    Widths are relative; the gap is a share of the whole.
    """
    room = 1 - gap * (len(widths) - 1)
    shares = [room * width / sum(widths) for width in widths]
    lefts = [sum(shares[:i]) + i * gap for i in range(len(shares))]
    ax.set_axis_off()
    found = zip(lefts, shares, strict=True)
    return [ax.inset_axes((left, 0.0, share, 1.0)) for left, share in found]


def finite_table(values: Any, who: str, name: str) -> npt.NDArray[np.float64]:
    """A table of finite numbers with at least one row, checked."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2 or not found.size or not np.isfinite(found).all():
        raise ValueError(
            f"{who}: {name} has shape {found.shape} and must be a table of finite numbers with at "
            "least one row and one column."
        )
    return found
