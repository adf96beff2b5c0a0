"""The data of the seeding figures: fifteen round clusters in the plane, with or without strays."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

N_CLUSTERS = 15


def fifteen_clusters(n_rows: int = 5000) -> Floats:
    """Rows of Gaussian clusters of one size that touch but can be told apart.

    Centres are drawn uniformly from the unit square, no two within five standard deviations.
    """
    rng = np.random.RandomState(1)
    spread = 0.034
    centers = rng.uniform(size=(1, 2))
    while len(centers) < N_CLUSTERS:
        candidate = rng.uniform(size=2)
        if np.linalg.norm(centers - candidate, axis=1).min() > 5 * spread:
            centers = np.vstack([centers, candidate])
    labels = rng.randint(N_CLUSTERS, size=n_rows)
    return centers[labels] + rng.normal(0, spread, size=(n_rows, 2))


def with_strays(rows: Floats, n_strays: int = 50) -> Floats:
    """The rows and a few more, uniform in a square three times as wide."""
    strays = np.random.RandomState(2).uniform(-1, 2, size=(n_strays, 2))
    return np.vstack([rows, strays])
