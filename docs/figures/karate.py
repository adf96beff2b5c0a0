"""Who is in the middle of a club that fell apart? The karate club with its two medoids.

python docs/figures/karate.py writes karate.png beside itself.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot

from coterie import KMedoids
from coterie.plots import graph

#: Zachary (1977): 34 members; for each the friends with lower numbers.
FRIENDS = (
    "1:0 2:0,1 3:0,1,2 4:0 5:0 6:0,4,5 7:0,1,2,3 8:0,2 9:2 10:0,4,5 11:0 12:0,3 13:0,1,2,3 16:5,6 "
    "17:0,1 19:0,1 21:0,1 25:23,24 27:2,23,24 28:2 29:23,26 30:1,8 31:0,24,25,28 "
    "32:2,8,14,15,18,20,22,23,29,30,31 33:8,9,13,14,15,18,19,20,22,23,26,27,28,29,30,31,32"
)


def karate_club() -> sp.csr_array:
    """Who is a friend of whom, both ways."""
    lines = [entry.split(":") for entry in FRIENDS.split()]
    pairs = [(int(one), int(other)) for one, others in lines for other in others.split(",")]
    i, j = np.array(pairs).T
    one_way = sp.coo_array((np.ones(i.size, dtype=bool), (i, j)), shape=(34, 34))
    return sp.csr_array(one_way + one_way.T)


def draw(folder: Path) -> None:
    """Two and three medoids, side by side."""
    club = karate_club()
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.4), dpi=90, layout="constrained")
    for ax, n_clusters in zip(axes, (2, 3), strict=True):
        model = KMedoids(n_clusters, metric="geodesic", n_init=60, random_state=0).fit(club)
        title = f"{n_clusters} medoids: {model.inertia_:.0f} hops in all"
        graph(club, model.labels_, model.medoid_indices_, names=range(34), title=title, ax=ax)
    figure.savefig(folder / "karate.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
