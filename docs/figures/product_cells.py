"""What does cutting the columns cost? One codebook, and a product of two.

python docs/figures/product_cells.py writes product_cells.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare
from matplotlib import pyplot

from coterie import ProductQuantizer, VectorQuantizer
from coterie.plots._style import INK, color_of


def draw(folder: Path, n_rows: int = 4000) -> None:
    """256 codewords of a slanted cloud, each way, with the mean squared error."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, 2)) @ np.array([[2.2, 1.5], [0.0, 0.5]])
    grid = np.stack(np.meshgrid(np.arange(16), np.arange(16)), axis=-1).reshape(-1, 2)
    models = {
        "one codebook: 256 codewords are kept": VectorQuantizer(256, random_state=0).fit(rows),
        "a product: 16 + 16 are kept, 16 × 16 can be said": ProductQuantizer(
            2, bits=4, random_state=0
        ).fit(rows),
    }
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.9), dpi=90, layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        plain = isinstance(model, VectorQuantizer)
        words = model.codebook_ if plain else model.decode(grid.astype(np.uint8))
        ax.scatter(*rows.T, s=3, c=color_of(5), linewidths=0)
        ax.scatter(*words.T, s=9, c=INK, linewidths=0)
        bare(ax, f"{name}\nerror {model.distortion(rows):.3f}")
    figure.savefig(folder / "product_cells.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
