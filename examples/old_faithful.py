"""What do k-means and EM find in the eruptions of Old Faithful? The textbooks' runs, step by step.

    python examples/old_faithful.py

272 eruptions, how long each took and how long the wait for the next was, standardised. Both methods
start at (-1, 1) and (1, -1), across the data, and have to turn.
"""

from pathlib import Path

import numpy as np

from coterie import GaussianMixture, KMeans

TABLE = Path(__file__).parent / "data" / "faithful.csv"
START = np.array([[-1.0, 1.0], [1.0, -1.0]])


def main() -> None:
    """Fit both, and tell how they came down."""
    raw = np.loadtxt(TABLE, delimiter=",", skiprows=1)
    rows = (raw - raw.mean(axis=0)) / raw.std(axis=0)

    kmeans = KMeans(2, init=START, tol=0).fit(rows)
    errors = ", ".join(f"{entry['objective_assign']:.2f}" for entry in kmeans.history_)
    print(f"k-means, SSE after each assignment: {errors}")
    print(f"  sizes {np.bincount(kmeans.labels_)}, SSE {kmeans.inertia_:.4f}")
    unscaled = KMeans(2, n_init=10, random_state=0).fit(raw)
    moved = min(
        np.sum(kmeans.labels_ != labels) for labels in (unscaled.labels_, 1 - unscaled.labels_)
    )
    print(f"  without standardising, {moved} rows are elsewhere")

    em = GaussianMixture(
        2, means_init=START, precisions_init=[np.eye(2)] * 2, weights_init=[0.5, 0.5],
        reg_covar=0, tol=1e-12, max_iter=200,
    ).fit(rows)  # fmt: skip
    print("EM, log-likelihood after so many updates:")
    for n_updates in (0, 1, 5, 10, 20, 30, 40, 50):
        print(f"  {n_updates:2d}  {-em.history_[n_updates]['objective_assign']:.2f}")
    one = GaussianMixture(1).fit(rows)
    print(f"  weights {em.weights_.round(3)}, settled after {em.n_iter_} iterations")
    print(f"  BIC of one component {one.bic(rows):.1f}, of two {em.bic(rows):.1f}")


if __name__ == "__main__":
    main()
