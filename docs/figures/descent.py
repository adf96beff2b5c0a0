"""What does an iteration of k-means do? The eight-point textbook example, half-step by half-step.

python docs/figures/descent.py writes descent.png and film.png beside itself.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot
from matplotlib.axes import Axes

from coterie import KMeans
from coterie.plots import descent
from coterie.plots._style import INK, NOISE_COLOR, color_of, plain

Floats = npt.NDArray[np.float64]

POINTS = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
START = POINTS[[0, 3, 6]]


def draw_descent(path: Path, model: KMeans) -> None:
    """The objective after every half-step, with its value."""
    figure, ax = pyplot.subplots(figsize=(7, 4.4), dpi=100, layout="constrained")
    descent(model.history_, ax=ax)
    for entry in model.history_:
        for at, value in (
            (entry["iteration"], entry["objective_assign"]),
            (entry["iteration"] + 0.5, entry["objective_update"]),
        ):
            ax.annotate(
                f"{value:.4g}",
                (at, value),
                xytext=(5, 6),
                textcoords="offset points",
                color=INK,
                fontsize=10,
            )
    ax.set_xlim(0.8, len(model.history_) + 1)
    ax.set_ylim(0, 75)
    figure.savefig(path)
    pyplot.close(figure)


def frame(ax: Axes, before: Floats, after: Floats, title: str) -> None:
    """One iteration: rows in the colour of the centre they choose, and the centres' moves."""
    labels = np.linalg.norm(POINTS[:, np.newaxis] - before, axis=2).argmin(axis=1)
    for cluster, (here, there) in enumerate(zip(before, after, strict=True)):
        color = color_of(cluster)
        own = POINTS[labels == cluster]
        for row in own:
            ax.plot(*zip(row, there, strict=True), color=color, linewidth=0.8, alpha=0.5, zorder=1)
        ax.scatter(*own.T, s=52, c=color, marker="os^"[cluster], linewidths=0, zorder=3)
        ax.scatter(*here, s=130, facecolors="none", edgecolors=color, linewidths=1.6, zorder=2)
        ax.scatter(*there, s=130, c=color, marker="X", edgecolors="white", zorder=4)
        if not np.array_equal(here, there):
            ax.annotate(
                "", there, here, arrowprops={"arrowstyle": "->", "color": INK, "shrinkB": 5}
            )
    ax.set(xlim=(0, 9.2), ylim=(1, 11), aspect="equal")
    plain(ax)
    ax.set_title(title, fontsize=12)


def draw_film(path: Path, model: KMeans) -> None:
    """One picture for each iteration that moved something."""
    centers = [START, *(entry["parameters"] for entry in model.history_)]
    moving = [entry for entry in model.history_ if entry["n_changed"]]
    figure, axes = pyplot.subplots(
        1, len(moving), figsize=(11, 4.9), dpi=100, sharey=True, layout="compressed"
    )
    for index, (ax, entry) in enumerate(zip(axes, moving, strict=True)):
        title = f"iteration {entry['iteration']}: SSE {entry['objective_update']:.4g}"
        frame(ax, centers[index], centers[index + 1], title)
    axes[0].scatter(
        [],
        [],
        s=130,
        facecolors="none",
        edgecolors=NOISE_COLOR,
        linewidths=1.6,
        label="centre before",
    )
    axes[0].scatter([], [], s=130, c=NOISE_COLOR, marker="X", label="centre after: the mean")
    axes[0].scatter([], [], s=52, c=NOISE_COLOR, marker="s", label="rows, one shape per cluster")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, labelcolor=INK, fontsize=11)
    figure.savefig(path)
    pyplot.close(figure)


def draw(folder: Path) -> None:
    """Write both figures into `folder`."""
    model = KMeans(3, init=START, tol=0, keep="parameters").fit(POINTS)
    draw_descent(folder / "descent.png", model)
    draw_film(folder / "film.png", model)


if __name__ == "__main__":
    draw(Path(__file__).parent)
