"""The four kinds of clustering, each on rows that suit it.

python docs/figures/kinds.py writes kind_*.png and kinds.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, centers, ellipse, mixed_colors, points
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.datasets import make_moons

from coterie import DBSCAN, GaussianMixture, KMeans, linkage
from coterie.plots import dendrogram
from coterie.plots._style import INK, color_of


def draw_centroid(ax: Axes) -> None:
    """Centres, and the region that is nearest to each."""
    rng = np.random.default_rng(3)
    places = np.array([[0, 0], [4, 0.5], [1.2, 3.4], [5, 3.8]])
    rows = places[np.arange(280) % 4] + 0.75 * rng.standard_normal((280, 2))
    model = KMeans(4, n_init=5, random_state=0).fit(rows)
    low, high = rows.min(axis=0) - 0.5, rows.max(axis=0) + 0.5
    x, y = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
    regions = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    ax.contourf(x, y, regions, levels=np.arange(5) - 0.5, alpha=0.15,
                colors=[color_of(j) for j in range(4)])  # fmt: skip
    points(ax, rows, model.labels_)
    centers(ax, model.cluster_centers_)
    bare(ax, "centres")
    ax.set_aspect("auto")


def draw_distribution(ax: Axes) -> None:
    """Overlapping normal components; a row has the mixed colour of those it belongs to."""
    rng = np.random.default_rng(5)
    shapes = [
        rng.multivariate_normal([0, 0], [[2.4, 1.5], [1.5, 1.3]], 170),
        rng.multivariate_normal([3.2, -0.6], [[0.9, -0.7], [-0.7, 1.1]], 110),
    ]
    rows = np.vstack(shapes)
    model = GaussianMixture(2, n_init=5, random_state=0).fit(rows)
    ax.scatter(*rows.T, s=12, c=mixed_colors(model.predict_proba(rows)), linewidths=0)
    for j in range(2):
        ellipse(ax, model.means_[j], model.covariances_[j], color_of(j))
    bare(ax, "distributions")


def draw_connectivity(ax: Axes) -> None:
    """Every merge from single rows to all of them."""
    rng = np.random.default_rng(1)
    places = np.array([[0, 0], [3, 0], [1.5, 7]])
    rows = places[np.arange(24) % 3] + 0.6 * rng.standard_normal((24, 2))
    dendrogram(linkage(rows, "average"), n_clusters=3, labels=[""] * 24, ax=ax)
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title("connections", color=INK, fontsize=12)


def draw_density(ax: Axes) -> None:
    """Two moons among strays: clusters are where rows lie close together."""
    rng = np.random.default_rng(0)
    moons = make_moons(260, noise=0.06, random_state=0)[0]
    rows = np.vstack([moons, rng.uniform([-1.6, -1.1], [2.6, 1.6], (45, 2))])
    points(ax, rows, DBSCAN(0.2, min_samples=6).fit(rows).labels_)
    bare(ax, "density")


PANELS = {
    "kind_centroid.png": draw_centroid,
    "kind_distribution.png": draw_distribution,
    "kind_connectivity.png": draw_connectivity,
    "kind_density.png": draw_density,
}


def draw(folder: Path) -> None:
    """A picture for each kind, and one of all four."""
    for name, panel in PANELS.items():
        figure, ax = pyplot.subplots(figsize=(4.6, 3.4), dpi=100, layout="constrained")
        panel(ax)
        ax.set_title("")
        figure.savefig(folder / name)
        pyplot.close(figure)
    figure, axes = pyplot.subplots(1, 4, figsize=(12, 2.9), dpi=100, layout="constrained")
    for ax, panel in zip(axes, PANELS.values(), strict=True):
        panel(ax)
    figure.savefig(folder / "kinds.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
