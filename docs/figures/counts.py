"""Counts of two kinds, and the two Poisson distributions found in them.

python docs/figures/counts.py writes counts.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from scipy.stats import poisson

from coterie import PoissonMixture
from coterie.plots._style import INK, NOISE_COLOR, color_of, plain


def draw(folder: Path, n_rows: int = 1000) -> None:
    """The histogram, the weighted components and their sum."""
    rng = np.random.default_rng(0)
    rows = rng.poisson(np.where(rng.uniform(size=n_rows) < 0.4, 3.0, 11.0))[:, np.newaxis]
    model = PoissonMixture(2, random_state=0, tol=1e-8, max_iter=1000).fit(rows)
    counts = np.arange(rows.max() + 1)
    figure, ax = pyplot.subplots(figsize=(8, 3.8), dpi=90, layout="constrained")
    ax.bar(counts, np.bincount(rows[:, 0]) / n_rows, width=0.9, color=NOISE_COLOR, alpha=0.5,
           label=f"{n_rows} rows")  # fmt: skip
    total = np.zeros(len(counts))
    for j, (weight, rate) in enumerate(zip(model.weights_, model.rates_[:, 0], strict=True)):
        part = weight * poisson(rate).pmf(counts)
        ax.plot(counts, part, "o-", color=color_of(j), label=f"{weight:.0%}: rate {rate:.1f}")
        total += part
    ax.plot(counts, total, color=INK, lw=1.2, ls="--", label="both together")
    ax.set(xlabel="count", ylabel="share of the rows")
    ax.legend(frameon=False, labelcolor=INK)
    plain(ax)
    figure.savefig(folder / "counts.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
