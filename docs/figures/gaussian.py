"""What does EM find in Old Faithful, and how does it get there?

python docs/figures/gaussian.py writes gaussian.png beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from coterie import GaussianMixture
from coterie.plots._style import INK, color_of, plain

FAITHFUL = Path(__file__).parents[2] / "examples" / "data" / "faithful.csv"


def fit(rows: np.ndarray) -> GaussianMixture:
    """The textbooks' start on standardised rows: it lies across the data, and must turn."""
    return GaussianMixture(
        2,
        means_init=[[-1, 1], [1, -1]],
        precisions_init=[np.eye(2), np.eye(2)],
        weights_init=[0.5, 0.5],
        reg_covar=0,
        tol=1e-9,
    ).fit(rows)


def draw_components(ax: Axes, rows: np.ndarray, model: GaussianMixture) -> None:
    """The rows, and two standard deviations around each component."""
    labels = model.predict(rows)
    for component in range(2):
        color = color_of(component)
        ax.scatter(*rows[labels == component].T, s=14, c=color, alpha=0.7, linewidths=0)
        lengths, axes = np.linalg.eigh(model.covariances_[component])
        angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
        width, height = 4 * np.sqrt(lengths[::-1])
        ax.add_patch(
            Ellipse(model.means_[component], width, height, angle=angle, fill=False, ec=color, lw=2)
        )
        ax.scatter(*model.means_[component], s=120, c=color, marker="X", edgecolors="white")
    ax.set(xlabel="eruption, standardised", ylabel="wait, standardised", title="What EM finds")
    plain(ax)


def draw_descent(ax: Axes, model: GaussianMixture) -> None:
    """The free energy after every half-step."""
    steps = [entry["iteration"] + half for entry in model.history_ for half in (0, 0.5)]
    values = [
        entry[key] for entry in model.history_ for key in ("objective_assign", "objective_update")
    ]
    ax.plot(steps[1:], values[1:], color=INK, lw=1.5, marker=".", markersize=4)
    ax.set(xlabel="iteration", ylabel="free energy", title="How it gets there")
    plain(ax)


def draw(folder: Path) -> None:
    """Two panels: the components, and the descent of the free energy."""
    rows = np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = fit(rows)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.4), dpi=100, layout="constrained")
    draw_components(left, rows, model)
    draw_descent(right, model)
    figure.savefig(folder / "gaussian.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
