"""Is Old Faithful one Gaussian or two? Both densities, and what BIC says.

python docs/figures/one_or_two.py writes one_or_two.png beside itself.
"""

from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import GaussianMixture
from coterie.plots import density

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


def draw(folder: Path) -> None:
    """Contours over the rows, in minutes."""
    X = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    figure, axes = pyplot.subplots(
        1, 2, figsize=(10.5, 4.3), layout="constrained", sharex=True, sharey=True
    )
    names = ["eruption, minutes", "wait for the next, minutes"]
    for ax, k in zip(axes, (1, 2), strict=True):
        model = GaussianMixture(k, n_init=5, reg_covar=0, tol=1e-6, random_state=0).fit(X)
        density(model, X, feature_names=names, ax=ax)
        words = "one Gaussian" if k == 1 else "two"
        ax.set_title(f"{words}: BIC {model.bic(X):.0f}")
    axes[1].set_ylabel("")
    save_small(figure, folder / "one_or_two.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
