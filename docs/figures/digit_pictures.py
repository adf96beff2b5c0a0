"""What does k-means see in handwritten digits, and which pictures does a tree call alike?

python docs/figures/digit_pictures.py writes digit_pictures.png beside itself.
"""

import runpy
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.datasets import load_digits

from coterie import KMeans
from coterie.plots._style import INK, color_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "digit_images.py"
#: Places of the queries among the pictures that were not kept; the last two are hard.
QUERIES = (1, 3, 88, 128)


def show(ax: Axes, pixels: np.ndarray, title: str, color: str = INK) -> None:
    """One picture, ink as in the collection."""
    ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    ax.set_title(title, fontsize=10, color=color)
    ax.set_axis_off()


def draw(folder: Path) -> None:
    """Left ten centres, each with the digit most of its pictures are; right four searches."""
    example = runpy.run_path(str(EXAMPLE))
    digits = load_digits()
    pictures, meant = digits.data, digits.target
    figure = pyplot.figure(figsize=(12, 4.6), dpi=90, layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.15), wspace=0.06)

    model = KMeans(10, n_init=10, random_state=0).fit(pictures)
    counts = np.array([np.bincount(meant[model.labels_ == j], minlength=10) for j in range(10)])
    usual = counts.argmax(axis=1)
    left.suptitle("Centres of k-means: the digit most pictures are, and its share", color=INK)
    for ax, j in zip(
        left.subplots(2, 5).flat,
        np.argsort(usual, kind="stable"),
        strict=True,
    ):
        show(ax, model.cluster_centers_[j], f"{usual[j]}: {counts[j].max() / counts[j].sum():.0%}")

    kept = example["N_KEPT"]
    tree = example["vocabulary"](pictures[:kept])
    found = example["alike"](tree, pictures[kept:][list(QUERIES)], 4)
    right.suptitle("A new picture, and the five most alike in the tree (beam 4)", color=INK)
    for axes, query, own in zip(right.subplots(len(QUERIES), 6), QUERIES, found, strict=True):
        wanted = meant[kept + query]
        show(axes[0], pictures[kept + query], f"{wanted}?", color_of(0))
        for ax, row in zip(axes[1:], own, strict=True):
            show(ax, pictures[row], str(meant[row]), INK if meant[row] == wanted else color_of(1))
    figure.savefig(folder / "digit_pictures.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
