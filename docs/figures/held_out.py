"""What do rows that were not in the fit say about k? Likelihood of mixtures, errors of k-means.

python docs/figures/held_out.py writes held_out.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import GaussianMixture, KMeans
from coterie.plots._style import color_of, plain
from coterie.select import choose_k

KS = tuple(range(1, 11))


def rows() -> np.ndarray:
    """Four round clusters in the plane."""
    rng = np.random.default_rng(0)
    places = ((0.0, 0.0), (1.0, 2.0), (3.0, 0.0), (4.0, 3.0))
    return np.concatenate([rng.normal(place, 0.4, (100, 2)) for place in places])


def held_out_errors(X: np.ndarray) -> np.ndarray:
    """Mean squared distance of unseen rows to their nearest centre, for every k."""
    order = np.random.RandomState(0).permutation(len(X))
    errors = np.zeros(len(KS))
    for fold in np.array_split(order, 5):
        kept = np.setdiff1d(order, fold)
        for place, k in enumerate(KS):
            model = KMeans(k, n_init=10, random_state=0).fit(X[kept])
            errors[place] -= model.score(X[fold]) / len(X)
    return errors


def draw(folder: Path) -> None:
    """Write the figure into `folder`."""
    X = rows()
    found = choose_k(X, GaussianMixture(), KS, criterion=["held_out", "bic"], random_state=0)
    curve = found.curves["held_out"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.6), dpi=100, layout="constrained")
    left.errorbar(KS, curve.values, curve.errors, color=color_of(0), marker="o", capsize=3)
    left.axvline(4, color=color_of(1), linewidth=1, linestyle=":")
    left.set(xlabel="components", ylabel="log-density of an unseen row", xticks=KS)
    left.set_title("Gaussian mixture: turns at the true 4")
    right.plot(KS, held_out_errors(X), color=color_of(0), marker="o")
    right.axvline(4, color=color_of(1), linewidth=1, linestyle=":")
    right.set(xlabel="clusters", ylabel="squared error of an unseen row, log scale", xticks=KS)
    right.set_yscale("log")
    right.set_yticks([0.2, 0.3, 0.5, 1, 2, 4], ["0.2", "0.3", "0.5", "1", "2", "4"])
    right.yaxis.set_minor_formatter("")
    right.set_title("k-means: falls on and on")
    for ax in (left, right):
        plain(ax)
    figure.savefig(folder / "held_out.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
