"""How clusters are told apart: by number, by colour and, beyond seven, by the shape of the mark.

Seven colours of Okabe & Ito (2008), which differ under every common colour blindness; a style
sheet holds their values, for light and for dark paper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from coterie._labels import NOISE

N_COLORS = 7
#: Of each shape the name that the drawing library knows and the character for a legend.
SHAPES = (
    ("circle", "●"), ("diamond", "◆"), ("square", "■"), ("triangle-up", "▲"), ("cross", "✚"),
    ("x", "✖"), ("star", "★"),
)  # fmt: skip


class Mark(NamedTuple):
    """The mark of a cluster: the number of its colour, the name of its shape, its character."""

    color: int
    shape: str
    sign: str


#: Rows in no cluster.
NOISE_MARK = Mark(-1, "x-thin-open", "×")


def mark(place: int) -> Mark:
    """The mark of the cluster at a place of the list."""
    shape, sign = SHAPES[place // N_COLORS % len(SHAPES)]
    return Mark(place % N_COLORS, shape, sign)


def marks(clusters: list[dict[str, Any]]) -> dict[int, Mark]:
    """The mark of every label, that of noise among them."""
    return {NOISE: NOISE_MARK} | {cluster["label"]: mark(i) for i, cluster in enumerate(clusters)}
