"""Clusters of different densities: DBSCAN at a small and a large eps, and HDBSCAN.

python docs/figures/densities.py writes densities.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, points
from matplotlib import pyplot

from coterie import DBSCAN, HDBSCAN


def unequal(n_rows: int) -> np.ndarray:
    """Two tight groups side by side, a loose one, and a few strays."""
    rng = np.random.default_rng(4)
    third = n_rows // 3
    return np.vstack([
        rng.normal([0, 0], 0.22, (third, 2)),
        rng.normal([1.7, 0], 0.22, (third, 2)),
        rng.normal([6, 1], 1.1, (third, 2)),
        rng.uniform([-2, -3], [9, 5], (n_rows // 20, 2)),
    ])  # fmt: skip


def draw(folder: Path, n_rows: int = 450) -> None:
    """No single eps suits both densities."""
    rows = unequal(n_rows)
    fits = {
        "DBSCAN, eps = 0.2": DBSCAN(0.2, min_samples=8),
        "DBSCAN, eps = 0.8": DBSCAN(0.8, min_samples=8),
        "HDBSCAN, min_cluster_size = 25": HDBSCAN(min_cluster_size=25, min_samples=8),
    }
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.5), dpi=90, layout="constrained")
    for ax, (name, model) in zip(axes, fits.items(), strict=True):
        labels = model.fit(rows).labels_
        points(ax, rows, labels)
        bare(ax, f"{name}:\n{labels.max() + 1} clusters, {np.sum(labels < 0)} rows noise")
    figure.savefig(folder / "densities.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
