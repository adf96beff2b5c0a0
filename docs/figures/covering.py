"""Rows that no row is far from: k-centre beside the centres of k-means.

python docs/figures/covering.py writes covering.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, centers, points
from matplotlib import pyplot
from matplotlib.patches import Circle

from coterie import KCenter, KMeans
from coterie.plots._style import INK


def draw(folder: Path, n_rows: int = 400) -> None:
    """Four centres each, with the circle that covers all rows."""
    rng = np.random.default_rng(1)
    places = np.array([[0.0, 0.0], [6.0, -0.5], [4.5, 4.0], [9.5, 2.8]])
    sizes = np.array([n_rows - 15, 5, 5, 5])
    spread = np.repeat([0.55, 0.15, 0.15, 0.15], sizes)[:, np.newaxis]
    rows = np.repeat(places, sizes, axis=0) + spread * rng.standard_normal((n_rows, 2))
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), dpi=90, layout="constrained")
    cover, means = (
        KCenter(4, start=int(np.linalg.norm(rows, axis=1).argmin())).fit(rows),
        KMeans(4, n_init=10, random_state=0).fit(rows),
    )
    for ax, name, model in zip(axes, ("k-centre", "k-means"), (cover, means), strict=True):
        radius = model.transform(rows).min(axis=1).max()
        points(ax, rows, model.labels_)
        for center in model.cluster_centers_:
            ax.add_patch(Circle(center, radius, fill=False, ec=INK, lw=0.7, alpha=0.6))
        centers(ax, model.cluster_centers_)
        bare(ax, f"{name}: no row is farther than {radius:.1f}")
    figure.savefig(folder / "covering.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
