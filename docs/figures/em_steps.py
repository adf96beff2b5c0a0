"""How does EM find genuine and forged banknotes? Its iterations 1, 3, 5, 10, 15 and 25.

python docs/figures/em_steps.py writes em_steps.png beside itself.
"""

from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import GaussianMixture
from coterie.evaluate import adjusted_rand_score
from coterie.plots import memberships
from coterie.plots._gaussians import components_of, shares_of
from coterie.plots._outlines import draw_covariance
from coterie.plots._style import color_of

#: Lower margin and diagonal of 200 Swiss notes (Flury & Riedwyl 1988), genuine and forged.
BANKNOTES = Path(__file__).parents[2] / "examples" / "data" / "banknote.csv"
SHOWN = (1, 3, 5, 10, 15, 25)


def draw(folder: Path) -> None:
    """Six panels; beside the log-likelihood stands how well the notes are told apart."""
    X = np.loadtxt(BANKNOTES, delimiter=",", skiprows=1, usecols=(1, 2))
    status = np.loadtxt(BANKNOTES, delimiter=",", skiprows=1, usecols=0, dtype=str)
    model = GaussianMixture(
        2, means_init=[[9, 141], [9, 140]], weights_init=[0.5, 0.5],
        precisions_init=[4 * np.linalg.inv(np.cov(X.T))] * 2, reg_covar=0, tol=1e-8,
        keep="parameters",
    ).fit(X)  # fmt: skip
    figure, axes = pyplot.subplots(
        2, 3, figsize=(11, 6.4), layout="constrained", sharex=True, sharey=True
    )
    for ax, iteration in zip(axes.flat, SHOWN, strict=True):
        entry = model.history_[iteration - 1]
        now = components_of(entry, "em_steps")
        shares = shares_of(now, X)
        memberships(X, shares, feature_names=["lower margin, mm", "diagonal, mm"], ax=ax)
        for component in range(2):
            draw_covariance(ax, now.means[component], now.covariances[component],
                            color_of(component))  # fmt: skip
        score = adjusted_rand_score(status, shares.argmax(axis=1))
        ax.set_title(
            f"iteration {iteration}: log-likelihood {-entry['objective_update']:.0f}, "
            f"ARI {score:.2f}", fontsize=11,
        )  # fmt: skip
        ax.get_legend().remove()
        ax.label_outer()
    save_small(figure, folder / "em_steps.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
