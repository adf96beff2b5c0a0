"""What do strays do to normal components, and what to Student's?

python docs/figures/strays.py writes strays.png beside itself.
"""

from pathlib import Path

import numpy as np
from _panels import bare, ellipse, points
from matplotlib import pyplot

from coterie import GaussianMixture, StudentTMixture
from coterie.plots._style import INK


def draw(folder: Path) -> None:
    """Both mixtures from one start; rows in the colours of their components."""
    rng = np.random.default_rng(0)
    places = np.array([[0, 0], [8, 0], [0, 8]])
    clean = np.repeat(places, 150, axis=0) + rng.normal(size=(450, 2))
    rows = np.vstack([clean, rng.uniform(-16, 24, (45, 2))])
    start = {
        "weights_init": np.full(3, 1 / 3),
        "means_init": places,
        "precisions_init": np.stack([np.eye(2)] * 3),
    }
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), dpi=90, layout="constrained")
    for ax, (name, mixture) in zip(
        axes, {"Gaussian": GaussianMixture, "Student-t": StudentTMixture}.items(), strict=True
    ):
        model = mixture(3, max_iter=1000, **start).fit(rows)
        points(ax, rows, model.predict(rows), size=7)
        for j in range(3):
            ellipse(ax, model.means_[j], model.covariances_[j], INK, width=1.5)
        bare(ax, f"{name} components, two scales wide")
    figure.savefig(folder / "strays.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
