"""One cluster split at a time: bisecting k-means from one cluster to five.

python docs/figures/bisecting.py writes bisecting.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, centers, points
from matplotlib import pyplot

from coterie import BisectingKMeans


def draw(folder: Path) -> None:
    """The rows after every split; what is not split keeps its rows."""
    rng = np.random.default_rng(2)
    places = np.array([[0, 0], [2.6, 0], [7, 1], [7, 4], [1.5, 5.5]])
    rows = places[np.arange(300) % 5] + 0.55 * rng.standard_normal((300, 2))
    figure, axes = pyplot.subplots(1, 4, figsize=(12, 3.1), dpi=90, layout="constrained")
    for ax, n_clusters in zip(axes, (2, 3, 4, 5), strict=True):
        model = BisectingKMeans(n_clusters, n_init=5, random_state=0).fit(rows)
        points(ax, rows, model.labels_)
        centers(ax, model.cluster_centers_)
        bare(ax, f"{n_clusters} clusters, SSE {model.inertia_:.0f}")
    figure.savefig(folder / "bisecting.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
