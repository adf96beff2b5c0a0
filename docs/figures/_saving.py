"""Figures as small PNG files: few colours, well packed."""

import io
from pathlib import Path

from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image


def save_small(figure: Figure, path: Path, *, n_colors: int = 128, dpi: int = 100) -> None:
    """Write a figure in at most so many colours, and close it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    pyplot.close(figure)
    picture = Image.open(drawn).convert("RGB")
    picture.quantize(n_colors, dither=Image.Dither.NONE).save(path, optimize=True)
