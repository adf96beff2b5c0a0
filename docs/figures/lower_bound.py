"""Why does EM never lose? Its lower bounds touch the log-likelihood where they were made.

python docs/figures/lower_bound.py writes lower_bound.png beside itself.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from _saving import save_small
from matplotlib import pyplot
from scipy.stats import norm

from coterie.plots._style import INK, color_of, plain

Floats = npt.NDArray[np.float64]


def joint(x: Floats, mean: Floats) -> Floats:
    """log p(x, z) of 0.5 N(mean, 1) + 0.5 N(1, 1) for every mean, row and component."""
    own = norm.logpdf(x, mean[:, np.newaxis], 1.0)
    other = np.broadcast_to(norm.logpdf(x, 1.0, 1.0), own.shape)
    return np.log(0.5) + np.stack([own, other], axis=-1)


def log_likelihood(x: Floats, mean: Floats) -> Floats:
    """Of the one free parameter."""
    return np.logaddexp.reduce(joint(x, mean), axis=-1).sum(axis=1)


def responsibilities(x: Floats, mean: float) -> Floats:
    """The E-step at a mean."""
    log_joint = joint(x, np.array([mean]))[0]
    return np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1)[:, np.newaxis])


def bound(x: Floats, mean: Floats, shares: Floats) -> Floats:
    """Expected log p(x, z) plus the entropy of the responsibilities."""
    entropy = -(shares * np.log(shares)).sum()
    return (shares * joint(x, mean)).sum(axis=(1, 2)) + entropy


def draw(folder: Path) -> None:
    """Four bounds, each made where the one before is highest."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-1, 1, 40), rng.normal(1, 1, 40)])
    grid = np.linspace(-4.0, 4.4, 400)
    figure, ax = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    ax.plot(grid, log_likelihood(x, grid), color=INK, linewidth=2.4, label="log-likelihood")
    mean = 1.8
    for step in range(4):
        shares = responsibilities(x, mean)
        color = color_of(step)
        curve = bound(x, grid, shares)
        ax.plot(grid, curve, color=color, linewidth=1.6, linestyle=(0, (5, 2)),
                label=f"bound of E-step {step + 1}")  # fmt: skip
        touch = log_likelihood(x, np.array([mean]))[0]
        ax.scatter([mean], [touch], s=70, c=color, zorder=4)
        best = float((shares[:, 0] * x).sum() / shares[:, 0].sum())
        peak = bound(x, np.array([best]), shares)[0]
        ax.scatter([best], [peak], s=60, facecolors="white", edgecolors=color, lw=2, zorder=4)
        ax.vlines(best, peak, log_likelihood(x, np.array([best]))[0], color=color, lw=1)
        mean = best
    ax.set_ylim(-225, -138)
    ax.set(xlabel="the mean that is not known", ylabel="nats")
    ax.set_title("A dot: the E-step makes the bound touch. A ring: the M-step climbs it.")
    ax.legend(frameon=False, labelcolor=INK, loc="lower left", bbox_to_anchor=(1.0, 0.5))
    plain(ax)
    ax.title.set_fontsize(12)
    save_small(figure, folder / "lower_bound.png")


if __name__ == "__main__":
    draw(Path(__file__).parent)
