"""What does k-means do with the wrong K? Four groups in two, four and seven clusters.

python docs/figures/wrong_k.py writes wrong_k.png beside itself.
"""

from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import KMeans
from coterie.plots import scatter


def draw(folder: Path) -> None:
    """Three panels: too few, right, too many."""
    rng = np.random.default_rng(1)
    places = [(0, 0), (3, 0.5), (0.5, 3), (4, 4)]
    X = np.vstack([rng.normal(place, 0.5, (80, 2)) for place in places])
    figure, axes = pyplot.subplots(1, 3, figsize=(11.5, 3.9), layout="constrained", sharey=True)
    told = {2: "groups are joined", 4: "one cluster per group", 7: "groups are cut"}
    for ax, (k, words) in zip(axes, told.items(), strict=True):
        model = KMeans(k, n_init=20, random_state=0).fit(X)
        scatter(X, model.labels_, model.cluster_centers_, regions=model, outlines=None, ax=ax)
        ax.get_legend().remove()
        ax.set(xlabel=f"sum of squared errors {model.inertia_:.0f}", ylabel="")
        ax.set_title(f"K = {k}: {words}", fontsize=13)
    save_small(figure, folder / "wrong_k.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
