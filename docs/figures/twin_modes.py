"""Which component is the first? The likelihood of two means has two equal peaks.

python docs/figures/twin_modes.py writes twin_modes.png beside itself.
"""

from pathlib import Path

import numpy as np
from _saving import save_small
from matplotlib import pyplot

from coterie import GaussianMixture
from coterie.plots import likelihood_surface

#: The textbook's 200 rows of 0.5 N(-10, 5^2) + 0.5 N(10, 5^2).
N_ROWS, SCALE, MEANS = 200, 5.0, (-10.0, 10.0)


def rows() -> np.ndarray:
    """A hundred rows of each component."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(mean, SCALE, N_ROWS // 2) for mean in MEANS])


def path_of_em(x: np.ndarray, start: list[float]) -> np.ndarray:
    """Both means after every iteration; all else is known and fixed."""
    model = GaussianMixture(
        2, means_init=np.array(start)[:, None], weights_init=[0.5, 0.5],
        precisions_init=np.full((2, 1, 1), SCALE**-2), fixed=("weights", "covariances"),
        tol=1e-6, keep="parameters",
    ).fit(x[:, None])  # fmt: skip
    return np.array([start, *(entry["parameters"][:, 0] for entry in model.history_)])


def draw(folder: Path, grid: int = 90) -> None:
    """Contours with the ways of EM from three starts, and the surface."""
    x = rows()
    paths = [path_of_em(x, start) for start in ([-20.0, -14.0], [14.0, 19.0], [19.0, -4.0])]
    figure = pyplot.figure(figsize=(11, 4.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    right = figure.add_subplot(1, 2, 2, projection="3d")
    span = (-22.0, 22.0)
    likelihood_surface(x, scale=SCALE, span=span, grid=grid, paths=paths, ax=left)
    likelihood_surface(x, scale=SCALE, span=span, grid=grid, ax=right)
    left.set_title("two modes, and EM from three starts", fontsize=12)
    right.set_title("the same from the side", fontsize=12)
    right.set_box_aspect(None, zoom=0.98)
    right.view_init(elev=32, azim=-62)
    save_small(figure, folder / "twin_modes.png", n_colors=256)


if __name__ == "__main__":
    draw(Path(__file__).parent)
