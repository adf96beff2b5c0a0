"""Which start should k-means have? Every seeding, many random states, one run each.

    python examples/kmeans_seedings.py [TABLE.csv K]

Without arguments the rows are 15 round clusters. With your own table of numbers (comma-separated,
one line of names first) you see which seeding suits it, and how many restarts it takes.
"""

import math
import sys

import numpy as np

from coterie import KMeans

N_RUNS = 30
STARTS = {
    "k-means++, greedy": {"init": "k-means++"},
    "k-means++, one trial": {"init": "k-means++", "n_local_trials": 1},
    "k-means||": {"init": "k-means||"},
    "farthest-first": {"init": "farthest-first"},
    "random rows": {"init": "random"},
    "box": {"init": "box"},
    "random labels": {"init": "random-labels"},
}


def round_clusters(n_clusters: int) -> np.ndarray:
    """5000 rows around random points of the plane."""
    rng = np.random.RandomState(3)
    centers = rng.uniform(size=(n_clusters, 2))
    return centers[rng.randint(n_clusters, size=5000)] + rng.normal(0, 0.03, size=(5000, 2))


def restarts_for(share: float) -> str:
    """How many runs find the best with 99% certainty, if this share of single runs do."""
    if share == 0:
        return f"not found in {N_RUNS}"
    return str(1 if share == 1 else math.ceil(math.log(0.01) / math.log(1 - share)))


def main(rows: np.ndarray, n_clusters: int) -> None:
    """Run each start `N_RUNS` times; print how often and how far it missed."""
    sse = {
        name: np.array(
            [
                KMeans(n_clusters, n_init=1, random_state=seed, **start).fit(rows).inertia_
                for seed in range(N_RUNS)
            ]
        )
        for name, start in STARTS.items()
    }
    best = min(runs.min() for runs in sse.values())
    print(f"{len(rows)} rows, k={n_clusters}, {N_RUNS} runs each; lowest SSE {best:.6g}\n")
    print(f"{'start':22}{'within 1%':>10}{'median':>9}{'worst':>9}   n_init to be 99% sure")
    for name, runs in sse.items():
        ratio = runs / best
        share = float(np.mean(ratio < 1.01))
        print(
            f"{name:22}{share:>10.0%}{np.median(ratio):>8.2f}x{ratio.max():>8.2f}x"
            f"   {restarts_for(share)}"
        )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(np.loadtxt(sys.argv[1], delimiter=",", skiprows=1), int(sys.argv[2]))
    else:
        main(round_clusters(15), 15)
