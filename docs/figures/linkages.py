"""Which shapes does each linkage find? Single, complete, average and Ward on six toy sets.

python docs/figures/linkages.py writes linkages.png and dendrograms.png beside itself.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot
from sklearn.datasets import make_circles, make_moons

import coterie
from coterie import AgglomerativeClustering
from coterie.plots import dendrogram
from coterie.plots._style import INK, color_of

Floats = npt.NDArray[np.float64]

LINKAGES = ("single", "complete", "average", "ward", "genie")
TEXTBOOK = [2, 5, 9, 15, 16, 18, 25, 33, 33, 45]


def toy_sets(n_rows: int) -> Mapping[str, tuple[Floats, int]]:
    """Rows in the plane and the number of clusters a person sees."""
    rng = np.random.RandomState(0)
    noise = rng.normal(size=(n_rows, 2))
    three = np.arange(n_rows) % 3
    corners = np.array([[0.0, 0], [6, 0], [3, 6]])
    spreads = np.array([0.4, 1.0, 1.7])
    return {
        "circles": (make_circles(n_rows, noise=0.04, factor=0.5, random_state=0)[0], 2),
        "moons": (make_moons(n_rows, noise=0.05, random_state=0)[0], 2),
        "blobs": (0.7 * noise + corners[three], 3),
        "unequal blobs": (spreads[three, None] * noise + 0.9 * corners[three], 3),
        "long blobs": ((0.62 * noise + 0.75 * corners[three]) @ [[0.6, -0.6], [-0.4, 0.85]], 3),
        "no clusters": (rng.uniform(size=(n_rows, 2)), 3),
    }


def draw_linkages(path: Path, n_rows: int) -> None:
    """A row of pictures for each set, a column for each linkage."""
    sets = toy_sets(n_rows)
    figure, axes = pyplot.subplots(
        len(sets), len(LINKAGES), figsize=(9, 9.6), dpi=68, layout="constrained"
    )
    for line, (name, (rows, n_clusters)) in zip(axes, sets.items(), strict=True):
        line[0].set_ylabel(name, color=INK, fontsize=12)
        for ax, linkage in zip(line, LINKAGES, strict=True):
            labels = AgglomerativeClustering(n_clusters, linkage=linkage).fit_predict(rows)
            # Numbered by their first rows, so that colours agree where clusters do.
            first_rows = np.unique(labels, return_index=True)[1]
            colors = [color_of(cluster) for cluster in np.argsort(np.argsort(first_rows))[labels]]
            ax.scatter(*rows.T, s=7, c=colors, linewidths=0)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
            ax.margins(0.08)
    for ax, linkage in zip(axes[0], LINKAGES, strict=True):
        ax.set_title(linkage, color=INK, fontsize=14)
    figure.savefig(path)
    pyplot.close(figure)


def draw_dendrograms(path: Path) -> None:
    """The textbook's ten numbers under two linkages, cut into three clusters."""
    rows = np.array(TEXTBOOK, dtype=float)[:, None]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), dpi=100, layout="constrained")
    for ax, method in zip(axes, ("single", "complete"), strict=True):
        Z = coterie.linkage(rows, method)
        dendrogram(Z, n_clusters=3, labels=TEXTBOOK, ax=ax, title=method)
    figure.savefig(path)
    pyplot.close(figure)


def draw(folder: Path, n_rows: int = 200) -> None:
    """Write both figures into `folder`."""
    draw_linkages(folder / "linkages.png", n_rows)
    draw_dendrograms(folder / "dendrograms.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
