"""Rows that tests of the choices share."""

import numpy as np

#: Where four clusters stand.
PLACES = ((0.0, 0.0), (1.0, 2.0), (3.0, 0.0), (4.0, 3.0))


def four_clusters(n_each: int = 40, spread: float = 0.25, seed: int = 0) -> np.ndarray:
    """Four round clusters in the plane, well apart."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(place, spread, (n_each, 2)) for place in PLACES])


def one_cloud(n_rows: int = 150, n_cols: int = 2, seed: int = 1) -> np.ndarray:
    """Uniform rows, without clusters."""
    return np.random.default_rng(seed).uniform(size=(n_rows, n_cols))
