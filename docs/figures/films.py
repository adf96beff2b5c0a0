"""How do k-means and EM move? Two films.

python docs/figures/films.py writes film_kmeans.gif and film_em.gif beside itself.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from coterie import GaussianMixture, KMeans
from coterie.plots import animate, save_film

BANKNOTES = Path(__file__).parents[2] / "examples" / "data" / "banknote.csv"


def draw(folder: Path, dpi: float = 70) -> None:
    """k-means on five groups from a poor start, EM on banknotes from another."""
    rng = np.random.default_rng(4)
    places = [(0, 0), (4, 0), (0, 4), (4, 4), (2, 2)]
    X = np.vstack([rng.normal(place, 0.7, (60, 2)) for place in places])
    start = np.array([[1.2, 2.2], [1.8, 1.5], [2.4, 2.4], [1.6, 2.8], [2.9, 1.6]])
    model = KMeans(5, init=start, tol=0, keep="parameters").fit(X)
    figure, ax = pyplot.subplots(figsize=(6, 4.4), layout="constrained")
    save_film(folder / "film_kmeans.gif", animate(model, X, start=start, ax=ax), dpi=dpi)
    pyplot.close(figure)

    rows = np.loadtxt(BANKNOTES, delimiter=",", skiprows=1, usecols=(1, 2))
    matrix = np.cov(rows.T) / 2
    begin = [0.5, 0.5], [[10.0, 142.0], [10.0, 140.0]], [matrix, matrix]
    mixture = GaussianMixture(
        2, weights_init=begin[0], means_init=begin[1], precisions_init=np.linalg.inv(begin[2]),
        reg_covar=0, tol=1e-3, keep="parameters",
    ).fit(rows)  # fmt: skip
    figure, ax = pyplot.subplots(figsize=(6, 4.4), layout="constrained")
    names = ["lower margin, mm", "diagonal, mm"]
    film = animate(mixture, rows, start=begin, feature_names=names, seconds=0.5, ax=ax)
    save_film(folder / "film_em.gif", film, dpi=0.85 * dpi)
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
