"""Where does eps come from? The k-distances of clusters in noise, and of uniform rows.

python docs/figures/k_distances.py writes k_distances.png beside itself.
"""

from pathlib import Path

import numpy as np
from _clusters import fifteen_clusters
from matplotlib import pyplot

from coterie.plots import k_distances
from coterie.select import suggest_eps


def draw(folder: Path) -> None:
    """Write the figure into `folder`."""
    rng = np.random.RandomState(3)
    noisy = np.vstack([fifteen_clusters(1800), rng.uniform(-0.5, 1.5, size=(200, 2))])
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.6), dpi=100, layout="constrained")
    for ax, rows, title in (
        (axes[0], noisy, "15 clusters and 10 % noise"),
        (axes[1], rng.uniform(size=(2000, 2)), "uniform rows"),
    ):
        k_distances(suggest_eps(rows), ax=ax)
        ax.set_title(title)
    figure.savefig(folder / "k_distances.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
