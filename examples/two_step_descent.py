"""What does an iteration of k-means do? The eight-point textbook example, half-step by half-step.

    python examples/two_step_descent.py [PICTURE]

Every iteration lowers the sum of squared errors twice: when the rows choose their nearest centre,
and when the centres move to the mean of their rows. With PICTURE (a .png) the descent is drawn.
"""

import sys

import numpy as np

from coterie import KMeans

POINTS = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
START = POINTS[[0, 3, 6]]


def nearest(centers: np.ndarray) -> np.ndarray:
    """The nearest centre of each point."""
    return np.linalg.norm(POINTS[:, np.newaxis] - centers, axis=2).argmin(axis=1)


def main(picture: str | None) -> None:
    """Fit, and tell the story that `history_` holds."""
    model = KMeans(3, init=START, tol=0, keep="parameters").fit(POINTS)
    centers = START
    for entry in model.history_:
        labels = nearest(centers)
        centers = entry["parameters"]
        clusters = [
            "".join(f" A{point + 1}" for point in np.flatnonzero(labels == cluster))
            for cluster in range(3)
        ]
        moved = ["({:.4g}, {:.4g})".format(*center) for center in centers]
        print(
            f"iteration {entry['iteration']}, rows that change their cluster: {entry['n_changed']}"
        )
        print(f"  rows choose:  {' |'.join(clusters)}   SSE {entry['objective_assign']:.4f}")
        print(f"  centres move: {', '.join(moved)}   SSE {entry['objective_update']:.4f}")
    print(f"Nothing changes any more: SSE {model.inertia_:.4f}.")

    if picture is not None:
        from coterie.plots import descent

        descent(model.history_).figure.savefig(picture)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
