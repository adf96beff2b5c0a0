"""One eps for clusters of two densities? DBSCAN at two eps, beside HDBSCAN.

python docs/figures/varying_density.py writes varying_density.png beside itself.
"""

import warnings
from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import DBSCAN, HDBSCAN
from coterie.errors import AdviceWarning
from coterie.plots import scatter


def rows() -> np.ndarray:
    """Two dense groups close to each other, a sparse one apart, and a few rows anywhere."""
    rng = np.random.default_rng(3)
    return np.vstack(
        [
            rng.normal([0, 0], 0.22, (150, 2)),
            rng.normal([1.5, 0], 0.22, (150, 2)),
            rng.normal([7, 3], 1.3, (150, 2)),
            rng.uniform([-2, -3], [11, 7], (20, 2)),
        ]
    )


def draw(folder: Path) -> None:
    """Three panels of the same rows."""
    X = rows()
    figure, axes = pyplot.subplots(1, 3, figsize=(11.5, 3.9), layout="constrained", sharey=True)
    models = {
        "DBSCAN, eps = 0.25": DBSCAN(eps=0.25, min_samples=5),
        "DBSCAN, eps = 0.9": DBSCAN(eps=0.9, min_samples=5),
        "HDBSCAN": HDBSCAN(min_cluster_size=20),
    }
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        with warnings.catch_warnings():  # advice on eps is what the picture is about
            warnings.simplefilter("ignore", AdviceWarning)
            labels = model.fit_predict(X)
        scatter(X, labels, outlines="hulls", ax=ax)
        ax.get_legend().remove()
        n_clusters, n_noise = int(labels.max()) + 1, int((labels < 0).sum())
        words = f"{n_clusters} cluster{'s' if n_clusters != 1 else ''}, {n_noise} rows of noise"
        ax.set(xlabel=words, ylabel="", aspect="equal")
        ax.set_title(name, fontsize=13)
    save_small(figure, folder / "varying_density.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
