"""What becomes of components that the rows do not need? Ten are allowed, under two priors.

python docs/figures/bayesian.py writes bayesian.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, ellipse
from matplotlib import pyplot

from coterie import BayesianGaussianMixture
from coterie.plots._style import INK, NOISE_COLOR, color_of, plain


def draw(folder: Path) -> None:
    """Two strengths of the prior: what is left, and all ten weights of each."""
    rng = np.random.RandomState(0)
    rows = np.vstack([rng.normal(place, 1, (200, 2)) for place in ((0, 0), (8, 0), (4, 7))])
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.8), dpi=90, layout="constrained")
    strengths = (0.001, 100.0)
    for ax, alpha in zip(axes, strengths, strict=False):
        model = BayesianGaussianMixture(
            10,
            weight_concentration_prior_type="dirichlet_distribution",
            weight_concentration_prior=alpha,
            max_iter=3000,
            random_state=0,
        ).fit(rows)
        ax.scatter(*rows.T, s=8, c=NOISE_COLOR, linewidths=0)
        color = color_of(strengths.index(alpha))
        for j in np.flatnonzero(model.weights_ > 0.01):
            ellipse(ax, model.means_[j], model.covariances_[j], color, 1 + 6 * model.weights_[j])
        used = np.count_nonzero(model.weights_ > 0.01)
        bare(ax, f"α₀ = {alpha:g}: {used} of 10 components in use")
        weights = np.sort(model.weights_)[::-1]
        axes[2].plot(range(1, 11), weights, "o-", color=color, label=f"α₀ = {alpha:g}")
    axes[2].set(xlabel="component, heaviest first", ylabel="weight", xticks=range(1, 11))
    axes[2].legend(frameon=False, labelcolor=INK)
    plain(axes[2])
    figure.savefig(folder / "bayesian.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
