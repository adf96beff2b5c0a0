"""How fast does each solver of a Gaussian mixture come down where components overlap?

python docs/figures/ways_down.py writes ways_down.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import GaussianMixture
from coterie.plots._style import INK, color_of, plain

SOLVERS = {
    "EM": {},
    'accelerate="anderson"': {"accelerate": "anderson"},
    'solver="lbfgs"': {"solver": "lbfgs"},
}


def draw(folder: Path, n_rows: int = 2000) -> None:
    """Free energy above the lowest seen, iteration by iteration."""
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(n_rows, 2))
    rows[: n_rows // 2, 0] += 2
    curves = {}
    for name, options in SOLVERS.items():
        model = GaussianMixture(2, covariance_type="tied", tol=1e-9, max_iter=3000,
                                random_state=0, **options).fit(rows)  # fmt: skip
        curves[name] = np.array([entry["objective_assign"] for entry in model.history_])
    lowest = min(values.min() for values in curves.values())
    figure, ax = pyplot.subplots(figsize=(8, 3.8), dpi=90, layout="constrained")
    for j, (name, values) in enumerate(curves.items()):
        ax.loglog(np.arange(1, len(values) + 1), np.maximum(values - lowest, 1e-6), "-",
                  color=color_of(j), lw=2, label=name)  # fmt: skip
    ax.set(xlabel="iteration", ylabel="free energy above the lowest")
    ax.legend(frameon=False, labelcolor=INK)
    plain(ax)
    figure.savefig(folder / "ways_down.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
