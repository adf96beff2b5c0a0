"""Do units matter? Penguins in grams and millimetres, raw and standardised.

python docs/figures/standardised.py writes standardised.png beside itself.
"""

import csv
from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot
from scipy.optimize import linear_sum_assignment

from coterie import KMeans
from coterie.evaluate import adjusted_rand_score
from coterie.plots import scatter

PENGUINS = Path(__file__).parents[2] / "examples" / "data" / "penguins.csv"
COLUMNS = ("bill_length_mm", "body_mass_g")


def penguins() -> tuple[np.ndarray, np.ndarray]:
    """Bill and mass of the birds that have both, and their species."""
    with PENGUINS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] for name in COLUMNS)]
    table = np.array([[float(row[name]) for name in COLUMNS] for row in rows])
    return table, np.array([row["species"] for row in rows])


def likest(labels: np.ndarray, species: np.ndarray) -> np.ndarray:
    """The cluster for each species that shares the most birds with it, each cluster once."""
    shared = [np.bincount(labels[species == one], minlength=3) for one in np.unique(species)]
    return linear_sum_assignment(shared, maximize=True)[1]


def draw(folder: Path) -> None:
    """The same three clusters asked for twice."""
    X, species = penguins()
    scale = X.std(axis=0)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
    names = ["bill, mm", "mass, g"]
    scatter(X, species, outlines=None, feature_names=names, ax=axes[0], title="three species")
    for ax, name, divisor in ((axes[1], "raw", 1.0), (axes[2], "standardised", scale)):
        model = KMeans(3, n_init=20, random_state=0).fit(X / divisor)
        order = likest(model.labels_, species)
        labels = np.argsort(order)[model.labels_]
        centers = model.cluster_centers_[order] * divisor
        scatter(X, labels, centers, outlines=None, feature_names=names, ax=ax)
        score = adjusted_rand_score(species, model.labels_)
        ax.set_title(f"{name}: adjusted Rand {score:.2f}", fontsize=13)
    for ax in axes:
        ax.set_ylabel("mass, g" if ax is axes[0] else "")
        if ax is not axes[0]:
            ax.get_legend().remove()
    legend = axes[0].get_legend()
    legend.set_loc("upper left")
    legend.set_bbox_to_anchor((0.0, 1.0), transform=axes[0].transAxes)
    legend.set_title(None)
    save_small(figure, folder / "standardised.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
