"""Does the order of rows matter to leaders? The same rows in two orders, and the counts of many.

python docs/figures/leaders.py writes leaders.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.patches import Circle

from coterie import LeaderClustering
from coterie.plots._style import INK, color_of, plain

THRESHOLD = 1.7


def draw(folder: Path, n_rows: int = 300, n_orders: int = 200) -> None:
    """Leaders of the orders with the fewest and the most, and how many all orders have."""
    rng = np.random.default_rng(1)
    centers = np.array([[0.0, 0.0], [3.2, 0.4], [1.5, 2.8]])
    rows = centers[np.arange(n_rows) % 3] + 0.5 * rng.standard_normal((n_rows, 2))
    orders = [rng.permutation(n_rows) for _ in range(n_orders)]
    fits = [LeaderClustering(THRESHOLD).fit(rows[order]) for order in orders]
    counts = np.array([model.counts_.size for model in fits])
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4.2), dpi=90, layout="constrained")
    for ax, one in zip(axes, (counts.argmin(), counts.argmax()), strict=False):
        model = fits[one]
        ax.scatter(
            *rows[orders[one]].T, s=8, c=[color_of(label) for label in model.labels_], linewidths=0
        )
        for leader in model.cluster_centers_:
            ax.add_patch(Circle(leader, THRESHOLD, fill=False, ec=INK, lw=0.7, alpha=0.6))
        ax.scatter(*model.cluster_centers_.T, s=60, c="white", edgecolors=INK, linewidths=1.6)
        ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-3.8, 6.6), ylim=(-3.6, 6))
        ax.spines[:].set_visible(False)
        ax.set_title(f"one order: {model.counts_.size} leaders", color=INK)
    axes[1].set_title(f"another order: {counts.max()} leaders", color=INK)
    sizes = np.bincount(counts)
    shown = np.arange(counts.min(), counts.max() + 1)
    axes[2].bar(shown, sizes[shown], color=color_of(0), width=0.8)
    axes[2].set_title(f"{n_orders} orders of the same rows", color=INK)
    axes[2].set(xlabel="leaders", ylabel="orders", xticks=shown)
    plain(axes[2])
    figure.savefig(folder / "leaders.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
