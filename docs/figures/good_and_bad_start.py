"""What does a bad seeding cost? k-means++ and random rows on fifteen clusters.

python docs/figures/good_and_bad_start.py writes good_and_bad_start.png beside itself.
"""

from pathlib import Path

import numpy as np
from _clusters import N_CLUSTERS, fifteen_clusters
from _saving import save_small
from matplotlib import pyplot

from coterie import KMeans
from coterie.plots import scatter, traces


def draw(folder: Path, n_rows: int = 1500) -> None:
    """The worst of ten random starts, one by k-means++, and how both descend."""
    X = fifteen_clusters(n_rows)
    bad = max(
        (KMeans(N_CLUSTERS, init="random", n_init=1, random_state=i).fit(X) for i in range(10)),
        key=lambda model: model.inertia_,
    )
    good = KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(X)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for ax, name, model in ((axes[0], "random rows", bad), (axes[1], "k-means++", good)):
        ax.set_box_aspect(1)
        scatter(X, model.labels_, regions=model, outlines=None, ax=ax)
        ax.scatter(*model.cluster_centers_.T, s=110, c="white", edgecolors="#333333", zorder=5)
        for cluster, center in enumerate(model.cluster_centers_):  # more than there are colours
            ax.annotate(f"{cluster}", center, ha="center", va="center", fontsize=7, zorder=6)
        ax.get_legend().remove()
        ax.set(xlabel=f"sum of squared errors {model.inertia_:.2f}", ylabel="")
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=13)
    traces({"random rows": bad, "k-means++": good}, ax=axes[2])
    axes[2].set_ylim(bottom=0)
    axes[2].set_xticks(np.arange(0, len(bad.history_) + 1, 5))
    axes[2].set_title("how both descend", fontsize=13)
    save_small(figure, folder / "good_and_bad_start.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
