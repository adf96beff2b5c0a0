"""Who is in the middle of a network? Medoids of two societies and of a road network.

    python examples/graph_medoids.py [PICTURE]

A medoid of a graph is the node with the shortest paths from all nodes of its cluster. Nothing of
size n x n is made, so a road network of a hundred thousand junctions takes a few seconds per
step. With PICTURE (a .png) the karate club is drawn.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp

from coterie import KMedoids
from coterie.distance import closeness

#: Zachary (1977): friends outside of the club; for each of 34 members those with lower numbers.
KARATE = (
    "1:0 2:0,1 3:0,1,2 4:0 5:0 6:0,4,5 7:0,1,2,3 8:0,2 9:2 10:0,4,5 11:0 12:0,3 13:0,1,2,3 16:5,6 "
    "17:0,1 19:0,1 21:0,1 25:23,24 27:2,23,24 28:2 29:23,26 30:1,8 31:0,24,25,28 "
    "32:2,8,14,15,18,20,22,23,29,30,31 33:8,9,13,14,15,18,19,20,22,23,26,27,28,29,30,31,32"
)
#: Padgett and Ansell (1993): marriages between families of Florence about 1430.
FLORENCE = (
    "Acciaiuoli-Medici Medici-Barbadori Medici-Ridolfi Medici-Tornabuoni Medici-Albizzi "
    "Medici-Salviati Castellani-Peruzzi Castellani-Strozzi Castellani-Barbadori Peruzzi-Strozzi "
    "Peruzzi-Bischeri Strozzi-Ridolfi Strozzi-Bischeri Ridolfi-Tornabuoni Tornabuoni-Guadagni "
    "Albizzi-Ginori Albizzi-Guadagni Salviati-Pazzi Bischeri-Guadagni Guadagni-Lamberteschi"
)


def graph_of(pairs: np.ndarray, lengths: np.ndarray) -> sp.csr_array:
    """The adjacency of edges that lead both ways; lengths of bool are hops."""
    n_nodes = int(pairs.max()) + 1
    one_way = sp.csr_array((lengths, tuple(pairs.T)), shape=(n_nodes, n_nodes))
    return sp.csr_array(one_way + one_way.T)


def karate_club() -> sp.csr_array:
    """34 members."""
    lines = [entry.split(":") for entry in KARATE.split()]
    pairs = np.array([(int(one), int(other)) for one, some in lines for other in some.split(",")])
    return graph_of(pairs, np.ones(len(pairs), dtype=bool))


def florentine_families() -> tuple[sp.csr_array, list[str]]:
    """15 families, and their names."""
    couples = [couple.split("-") for couple in FLORENCE.split()]
    names = sorted({name for couple in couples for name in couple})
    pairs = np.array([[names.index(name) for name in couple] for couple in couples])
    return graph_of(pairs, np.ones(len(pairs), dtype=bool)), names


def road_network(n_rows: int, n_cols: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Junctions on a grid, not quite in their places, and nine of ten roads between neighbours.

    Roads are as long as they are straight. What cannot be reached from most junctions is left out.
    """
    rng = np.random.default_rng(seed)
    number = np.arange(n_rows * n_cols).reshape(n_rows, n_cols)
    across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    roads = np.vstack([across, down])
    roads = roads[rng.random(len(roads)) < 0.9]
    places = np.column_stack(np.divmod(number.ravel(), n_cols)) + rng.uniform(
        -0.3, 0.3, (number.size, 2)
    )
    network = graph_of(roads, np.linalg.norm(places[roads[:, 0]] - places[roads[:, 1]], axis=1))
    _, part = sp.csgraph.connected_components(network, directed=False)
    largest = np.flatnonzero(part == np.bincount(part).argmax())
    return sp.csr_array(network[largest][:, largest]), places[largest]


def main(picture: str | None) -> None:
    """Tell what was found in each."""
    club = karate_club()
    print("The karate club, 34 members:")
    for n_clusters in (1, 2, 3):
        model = KMedoids(n_clusters, metric="geodesic", n_init=60, random_state=0).fit(club)
        medoids = ", ".join(map(str, sorted(model.medoid_indices_.tolist())))
        print(f"  {n_clusters} in the middle: {medoids}; {model.inertia_:.0f} hops to all others")
        if picture is not None and n_clusters == 2:
            from coterie.plots import graph

            drawn = graph(club, model.labels_, model.medoid_indices_, names=range(34))
            drawn.figure.savefig(picture)

    marriages, names = florentine_families()
    near = closeness(marriages)
    first, second = (names[family] for family in np.argsort(-near, kind="stable")[:2])
    print(f"Florence: the {first} are closest to all families, the {second} come next.")
    model = KMedoids(2, metric="geodesic", n_init=20, random_state=0).fit(marriages)
    for label, medoid in enumerate(model.medoid_indices_):
        around = [names[family] for family in np.flatnonzero(model.labels_ == label)]
        print(f"  around {names[medoid]}: {', '.join(around)}")

    roads, places = road_network(316, 317)
    start = time.perf_counter()
    model = KMedoids(20, metric="geodesic", random_state=0, max_iter=4).fit(roads)
    seconds = time.perf_counter() - start
    print(f"Roads: {roads.shape[0]:,} junctions, {roads.nnz // 2:,} roads, {seconds:.0f} s.")
    sizes = np.bincount(model.labels_)
    steps = [entry["objective_update"] / roads.shape[0] for entry in model.history_]
    print(f"  20 depots, for {sizes.min():,} to {sizes.max():,} junctions each")
    print(
        f"  mean way to a depot: {steps[0]:.1f} blocks at first, {steps[-1]:.1f} after four steps"
    )
    straight = np.linalg.norm(places - places[model.medoid_indices_][model.labels_], axis=1)
    print(f"  of which {100 * straight.mean() / steps[-1]:.0f} % would do as the crow flies")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
