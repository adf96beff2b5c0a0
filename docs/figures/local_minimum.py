"""Can k-means get stuck? Four corners in two clusters, from two starts.

python docs/figures/local_minimum.py writes local_minimum.png beside itself.
"""

from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import KMeans
from coterie.plots import scatter


def draw(folder: Path) -> None:
    """Both partitions are fixed points of Lloyd's iterations; one is far worse."""
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [0, 2], [5, 0], [5, 2]], dtype=float)
    X = np.vstack([rng.normal(corner, 0.3, (40, 2)) for corner in corners])
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 3.6), layout="constrained", sharey=True)
    starts = {
        "start left and right": [[0.7, 1.0], [4.3, 1.0]],
        "start below and above": [[2.5, -0.4], [2.5, 2.4]],
    }
    for ax, (name, start) in zip(axes, starts.items(), strict=True):
        model = KMeans(2, init=np.array(start), tol=0).fit(X)
        scatter(X, model.labels_, model.cluster_centers_, regions=model, outlines=None, ax=ax)
        ax.scatter(*np.array(start).T, s=90, marker="+", c="#333333", linewidths=2, zorder=6)
        ax.get_legend().remove()
        words = f"{name} (+): settles at {model.inertia_:.0f}"
        ax.set(xlabel="", ylabel="", aspect="equal")
        ax.set_title(words, fontsize=13)
    save_small(figure, folder / "local_minimum.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
