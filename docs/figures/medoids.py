"""Do medoids that only move within their clusters get stuck? Alternation against swaps.

python docs/figures/medoids.py writes medoids.png beside itself.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot

from coterie import KMedoids
from coterie.plots._style import INK, color_of, plain

Floats = npt.NDArray[np.float64]
N_CLUSTERS = 9
METHODS = {"alternate": "alternation", "fasterpam": "FasterPAM"}


def nine_groups(n_rows: int) -> Floats:
    """Groups on a grid of three by three."""
    rng = np.random.default_rng(5)
    centers = 5.0 * np.array([[i, j] for i in range(3) for j in range(3)])
    return centers[np.arange(n_rows) % 9] + rng.standard_normal((n_rows, 2))


def draw(folder: Path, n_rows: int = 450, n_starts: int = 60) -> None:
    """Clusters from the start that is in the middle of many for alternation; costs from all."""
    rows = nine_groups(n_rows)
    found = {
        method: [
            KMedoids(N_CLUSTERS, method=method, init="random", random_state=seed).fit(rows)
            for seed in range(n_starts)
        ]
        for method in METHODS
    }
    middle = np.argsort([model.inertia_ for model in found["alternate"]])[n_starts // 2]
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.8), dpi=90, layout="constrained")
    for ax, (method, name) in zip(axes, METHODS.items(), strict=False):
        model = found[method][middle]
        ax.scatter(*rows.T, s=6, c=[color_of(label) for label in model.labels_], linewidths=0)
        ax.scatter(*model.cluster_centers_.T, s=70, c="white", edgecolors=INK, linewidths=1.6)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.spines[:].set_visible(False)
        ax.set_title(f"{name}: {model.inertia_:.0f}", color=INK)
    best = min(model.inertia_ for models in found.values() for model in models)
    for place, (method, name) in enumerate(METHODS.items()):
        excess = np.sort([100 * (model.inertia_ / best - 1) for model in found[method]])
        axes[2].plot(np.arange(1, n_starts + 1), excess, color=color_of(place), lw=2, label=name)
    axes[2].set_title("above the best found", color=INK)
    axes[2].set_xlabel(f"{n_starts} random starts, sorted", color=INK)
    axes[2].set_ylabel("% of total deviation", color=INK)
    axes[2].legend(frameon=False)
    plain(axes[2])
    figure.savefig(folder / "medoids.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
