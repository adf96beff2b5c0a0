"""k-medoids on graphs: known optima, the full matrix as twin, rules, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

import coterie
from coterie import KMedoids

#: Zachary's karate club (1977), 34 members; for each the friends with lower numbers.
KARATE = (
    "1:0 2:0,1 3:0,1,2 4:0 5:0 6:0,4,5 7:0,1,2,3 8:0,2 9:2 10:0,4,5 11:0 12:0,3 13:0,1,2,3 16:5,6 "
    "17:0,1 19:0,1 21:0,1 25:23,24 27:2,23,24 28:2 29:23,26 30:1,8 31:0,24,25,28 "
    "32:2,8,14,15,18,20,22,23,29,30,31 33:8,9,13,14,15,18,19,20,22,23,26,27,28,29,30,31,32"
)


def karate() -> Any:
    pairs = [
        (int(member), int(friend))
        for entry in KARATE.split()
        for member, friends in [entry.split(":")]
        for friend in friends.split(",")
    ]
    i, j = np.array(pairs).T
    one_way = sp.coo_array((np.ones(i.size, dtype=bool), (i, j)), shape=(34, 34))
    return sp.csr_array(one_way + one_way.T)


def drawn(seed: int, n: int = 60, directed: bool = False) -> Any:
    """A ring with chords, so that all nodes are reached."""
    rng = np.random.default_rng(seed)
    i = np.concatenate([np.arange(n), rng.integers(n, size=n)])
    j = np.concatenate([(np.arange(n) + 1) % n, rng.integers(n, size=n)])
    keep = i != j
    lengths = rng.integers(1, 9, size=keep.sum()).astype(float)
    found = sp.csr_array(sp.coo_array((lengths, (i[keep], j[keep])), shape=(n, n)))
    return found if directed else sp.csr_array(found.maximum(found.T))


@pytest.mark.parametrize(
    ("k", "loss", "sets"),
    [
        (1, 58, [[0]]),
        (2, 35, [[0, 33]]),
        (3, 32, [[0, 24, 33], [0, 25, 33], [0, 31, 33]]),
        (4, 30, None),
    ],
)
def test_exact_optima_of_the_karate_club(k: int, loss: int, sets: Any) -> None:
    graph = karate()
    assert graph.nnz == 2 * 78
    model = KMedoids(k, metric="geodesic", n_init=60, random_state=0).fit(graph)
    assert model.inertia_ == loss
    assert sets is None or sorted(model.medoid_indices_.tolist()) in sets


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_each_step_against_the_full_matrix(seed: int, directed: bool) -> None:
    graph = drawn(seed, directed=directed)
    lengths = shortest_path(graph)  # from row to column
    weights = np.random.default_rng(seed).integers(1, 4, size=60).astype(float)
    model = KMedoids(5, metric="geodesic", init="random", random_state=seed)
    model.fit(graph, sample_weight=weights)
    to_medoids = lengths[:, model.medoid_indices_]
    np.testing.assert_array_equal(model.labels_, to_medoids.argmin(axis=1))
    np.testing.assert_array_equal(model.transform(graph), to_medoids)
    assert model.inertia_ == (weights * to_medoids.min(axis=1)).sum()
    np.testing.assert_array_equal(model.predict(graph), model.labels_)
    totals = [entry["objective_update"] for entry in model.history_]
    assert (np.diff(totals) <= 0).all()
    for j, medoid in enumerate(model.medoid_indices_):  # the middle, by paths within the cluster
        own = np.flatnonzero(model.labels_ == j)
        inside = shortest_path(graph[own][:, own])
        sums = weights[own] @ inside
        assert sums.min() == sums[own.tolist().index(medoid)]
    for n_threads in (1, 3):
        other = KMedoids(5, metric="geodesic", init="random", random_state=seed)
        other.set_params(n_threads=n_threads).fit(graph, sample_weight=weights)
        np.testing.assert_array_equal(other.medoid_indices_, model.medoid_indices_)


def test_parts_and_one_way_streets_have_rules() -> None:
    two = sp.block_diag([karate(), drawn(0) > 0], format="csr")
    with pytest.raises(ValueError, match=r"^KMedoids: the graph has 2 parts"):
        KMedoids(1, metric="geodesic").fit(two)
    model = KMedoids(2, metric="geodesic", random_state=0).fit(two)
    assert model.labels_[:34].tolist() == [model.labels_[0]] * 34
    assert model.labels_[34:].tolist() == [1 - model.labels_[0]] * 60
    street = sp.csr_array(np.array([[0, 1.0], [0, 0]]))  # from node 0 to node 1
    assert KMedoids(1, metric="geodesic", init=[1]).fit(street).inertia_ == 1
    with pytest.raises(ValueError, match=r"node 1 has no path to any medoid"):
        KMedoids(1, metric="geodesic", init=[0]).fit(street)


@pytest.mark.parametrize("length", [-1.0, np.nan, np.inf])
def test_bad_lengths_are_refused(length: float) -> None:
    graph = drawn(0)
    graph.data[3] = length
    with pytest.raises(ValueError, match=r"^KMedoids: an edge has the length .* not negative"):
        KMedoids(2, metric="geodesic").fit(graph)


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^KMedoids: metric='geodesic' was given a ndarray"):
        KMedoids(2, metric="geodesic").fit(np.eye(3))
    with pytest.raises(ValueError, match=r"shape \(2, 3\); pass a square"):
        KMedoids(2, metric="geodesic").fit(sp.csr_array((2, 3)))
    for method in ("pam", "fasterpam", "onebatch"):
        with pytest.raises(ValueError, match=f"method='{method}' was given.*only 'alternate'"):
            KMedoids(2, metric="geodesic", method=method).fit(karate())
    asked = KMedoids(2, metric="geodesic", method="alternate", random_state=0).fit(karate())
    assert asked.method_ == "alternate"


def test_files(tmp_path: Path) -> None:
    model = KMedoids(3, metric="geodesic", random_state=0).fit(karate())
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(karate()), model.labels_)
    assert again.medoid_nodes_ == model.medoid_indices_.tolist()


def test_names_of_networkx_are_kept() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.Graph([("a", "b"), ("b", "c"), ("b", "d")])
    assert KMedoids(1, metric="geodesic").fit(graph).medoid_nodes_ == ["b"]
