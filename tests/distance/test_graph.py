"""Graphs and closeness, against SciPy's and, where it is installed, networkx' shortest paths."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from coterie.distance import closeness


@pytest.mark.parametrize("hops", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_closeness_inside_clusters(seed: int, hops: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = sp.random(40, 40, 0.1, format="csr", random_state=seed)
    graph.data = np.ceil(9 * graph.data)
    labels = rng.integers(-1, 3, size=40)
    expected = np.zeros(40)
    for label in range(3):
        own = np.flatnonzero(labels == label)
        lengths = shortest_path(graph[own][:, own], unweighted=hops)
        sums = np.where(np.isinf(lengths), 0, lengths).sum(axis=0)
        expected[own] = np.divide(1, sums, out=np.zeros(own.size), where=sums > 0)
    given = graph.astype(bool) if hops else graph
    for n_threads in (1, 2):
        np.testing.assert_allclose(closeness(given, labels, n_threads=n_threads), expected)


def test_closeness_of_networkx() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.karate_club_graph()
    for _, _, data in graph.edges(data=True):
        data.pop("weight", None)
    expected = [value / 33 for value in networkx.closeness_centrality(graph).values()]
    np.testing.assert_allclose(closeness(graph), expected)


def test_wrong_labels_are_named() -> None:
    with pytest.raises(ValueError, match=r"^closeness: labels has shape \(2,\) and the graph 3"):
        closeness(sp.eye_array(3, format="csr"), [0, 1])
