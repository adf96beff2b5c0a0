"""Cells of a codebook, and how the error falls with every further bit.

python docs/figures/codewords.py writes codewords.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, centers
from matplotlib import pyplot
from scipy.spatial import Voronoi, voronoi_plot_2d

from coterie import VectorQuantizer
from coterie.plots._style import NOISE_COLOR, color_of, plain


def draw(folder: Path, n_rows: int = 3000) -> None:
    """Sixteen codewords of a curved cloud with their cells; distortion from 1 to 8 bits."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n_rows)
    rows = np.column_stack([1.4 * x, 0.6 * x**2 + 0.5 * rng.normal(size=n_rows)])
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.9), dpi=90, layout="constrained")
    model = VectorQuantizer(16, n_init=5, random_state=0).fit(rows)
    left.scatter(*rows.T, s=4, c=color_of(5), linewidths=0)
    voronoi_plot_2d(Voronoi(model.codebook_), left, show_points=False, show_vertices=False,
                    line_colors=NOISE_COLOR)  # fmt: skip
    centers(left, model.codebook_)
    bare(left, "16 codewords: 4 bits per row")
    left.set_aspect("equal", adjustable="box")
    (low_x, low_y), (high_x, high_y) = rows.min(axis=0) - 0.2, rows.max(axis=0) + 0.2
    left.set(xlim=(low_x, high_x), ylim=(low_y, high_y))
    bits = range(1, 9)
    errors = [
        VectorQuantizer(2**b, n_init=3, random_state=0).fit(rows).distortion(rows) for b in bits
    ]
    right.semilogy(bits, errors, "o-", color=color_of(0))
    right.set(xlabel="bits per row", ylabel="distortion", xticks=bits)
    right.set_title("each further bit about halves the error")
    plain(right)
    right.title.set_fontsize(12)
    figure.savefig(folder / "codewords.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
